"""A question in any of the forms in which one is given to `plan`: words, a function, a learner."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import lru_cache, partial
from typing import Any, TypeGuard

from sklearn.base import BaseEstimator, clone

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.query.report import profile
from discreet.query.select.sql import is_sql, read_sql
from discreet.query.words import Wording, named, statistic_asked, value_of
from discreet.trust.private_data import PrivateData
from discreet.trust.public_table import PublicTable

ASKED = "plan"
READ = 64  # questions that are kept as they were read
FORMS = (
    'Ask in words, such as "mean of age", "contingency of sex and department", "mean of stay by ward where age >= 65",'
    ' "KMeans n_clusters=4", "report" or "SELECT ..."; or give functools.partial(discreet.mean, column="age"),'
    " or a learner."
)


@dataclass(frozen=True)
class PlannedQuestion:
    """A question that can be put to any data set at any price.

    Parameters
    ----------
    name : str
        In words.
    ask : callable
        Called with private data and a budget.
    """

    name: str
    ask: Callable[[PrivateData, Budget], Any]


@dataclass(frozen=True)
class JoinedQuestion(PlannedQuestion):
    """A SELECT about tables that are joined: a question about the rows that they have together.

    Parameters
    ----------
    data : PrivateData
        These rows.
    """

    data: PrivateData


def is_tables(data: Any) -> TypeGuard[Mapping[str, PrivateData | PublicTable]]:
    """Whether these are tables by their names, and not columns."""
    return isinstance(data, Mapping) and any(isinstance(one, PrivateData | PublicTable) for one in data.values())


def joined(
    tables: Mapping[str, PrivateData | PublicTable], question: Any, delta: float, how: Mapping[str, Any]
) -> JoinedQuestion:
    """What a SELECT asks of several tables, with what is said beside it."""
    if not isinstance(question, str) or not is_sql(question):
        raise ParameterError(ASKED, "there are several tables", "Write SELECT ..., or give one of them.")
    selection = read_sql(tables, question, delta=delta, **how).selection

    def read(data: PrivateData, budget: Budget) -> Callable[[], Any]:
        return partial(replace(selection, data=data, budget=budget).released, question)

    return JoinedQuestion(question, read_once(read), selection.data)


def read_once(read: Callable[[PrivateData, Budget], Callable[[], Any]]) -> Callable[[PrivateData, Budget], Any]:
    """How a question is asked that is read once for the same data and price, since a plan asks it many times."""
    known = lru_cache(maxsize=READ)(read)
    return lambda data, budget: known(data, budget)()


def planned_question(question: Any, how: Mapping[str, Any] | None = None) -> PlannedQuestion:
    """The question that is meant.

    Parameters
    ----------
    question : str, callable or learner
        Public. In any form.
    how : mapping of str to object, optional
        Public. What is said beside a SELECT: `edges`, `bounds`.

    Examples
    --------
    >>> planned_question("mean of age").name, planned_question(discreet.learners.KMeans(3)).name
    ('mean of age', 'KMeans')
    """
    match question:
        case PlannedQuestion():
            return question
        case str() if is_sql(question):
            said = dict(how or {})
            read = read_once(lambda data, budget: read_sql(data, question, **asdict(budget), **said).asked)
            return PlannedQuestion(question, read)
        case str():
            return _in_words(Wording.of(question))
        case BaseEstimator():
            return _learner(type(question).__name__, question)
        case partial():
            return _function(_words_of(question), question)
        case _ if callable(question):
            return _function(getattr(question, "__name__", "question"), question)
        case _:
            raise ParameterError(ASKED, f"{question!r:.60} is not a question", FORMS)


def _in_words(wording: Wording) -> PlannedQuestion:
    if not wording.words:
        raise ParameterError(ASKED, "a question is empty", FORMS)
    if (found := named(wording)) is not None:
        question = statistic_asked(f"{ASKED}, {wording.text!r}", *found, wording.options)
        return _function(wording.text, partial(question.function, **question.options))
    options = {name: value for name, value in wording.options.items() if name != "where"}
    if wording.words == ("report",):
        return _conditional(wording, lambda data, budget: profile(data, budget, **options))
    name, *others = wording.words
    kind = getattr(discreet.learners, name) if name in discreet.learners.__all__ else None
    if not inspect.isclass(kind):
        raise ParameterError(ASKED, f"{wording.text!r} begins with no name of a statistic or a learner", FORMS)
    return _conditional(wording, _learner(name, kind(*map(value_of, others), **options)).ask)


def _conditional(wording: Wording, ask: Callable[[PrivateData, Budget], Any]) -> PlannedQuestion:
    """The same, asked of the records that are meant."""
    condition = wording.condition
    if condition is None:
        return PlannedQuestion(wording.text, ask)
    return PlannedQuestion(wording.text, lambda data, budget: ask(data.where(condition), budget))


def _function(name: str, function: Callable[..., Any]) -> PlannedQuestion:
    if "epsilon" not in inspect.signature(function).parameters:
        raise ParameterError(ASKED, f"{name} has no epsilon", "Give a function of data, epsilon and delta.")

    def ask(data: PrivateData, budget: Budget) -> Any:
        return function(data, epsilon=budget.epsilon, delta=budget.delta)

    return PlannedQuestion(name, ask)


def _learner(name: str, learner: Any) -> PlannedQuestion:
    if not isinstance(learner, PrivateEstimator) and not hasattr(learner, "epsilon"):
        raise ParameterError(ASKED, f"{name} is not a private learner", "Take one of discreet.learners.")

    seeded = {"random_state": 0} if getattr(learner, "random_state", 0) is None else {}

    def ask(data: PrivateData, budget: Budget) -> Any:
        return clone(learner).set_params(epsilon=budget.epsilon, delta=budget.delta, **seeded).fit(data)

    return PlannedQuestion(name, ask)


def _words_of(question: partial[Any]) -> str:
    given = [*question.args, *question.keywords.values()]
    return " ".join([getattr(question.func, "__name__", "question"), *(str(one) for one in given)])
