"""A question in any of the forms in which one is given to `plan`: words, a function, a learner."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator, clone

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.query.report import profile
from discreet.trust.private_data import PrivateData

ASKED = "plan"
FORMS = (
    'Ask in words, such as "mean of age", "contingency of sex and department", "mean of stay by ward where age >= 65",'
    ' "KMeans n_clusters=4" or "report"; or give functools.partial(discreet.mean, column="age"), or a learner.'
)
JOINING = {"of", "and", "the"}
WORDS = re.compile(r"\w+=\[[^]]*\]|\w+=\S+|[^\s,]+")


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


def planned_question(question: Any) -> PlannedQuestion:
    """The question that is meant.

    Examples
    --------
    >>> planned_question("mean of age").name, planned_question(discreet.learners.KMeans(3)).name
    ('mean of age', 'KMeans')
    """
    match question:
        case str():
            return _in_words(question)
        case BaseEstimator():
            return _learner(type(question).__name__, question)
        case partial():
            return _statistic(_words_of(question), question)
        case _ if callable(question):
            return _statistic(getattr(question, "__name__", "question"), question)
        case _:
            raise ParameterError(ASKED, f"{question!r:.60} is not a question", FORMS)


def _in_words(text: str) -> PlannedQuestion:
    asked, _, condition = text.partition(" where ")
    found = _unconditional(asked)
    if not condition:
        return found
    return PlannedQuestion(text, lambda data, budget: found.ask(data.where(condition), budget))


def _unconditional(text: str) -> PlannedQuestion:
    words = WORDS.findall(text)
    plain = [word for word in words if "=" not in word and word not in JOINING]
    options = {name: _value(value) for name, _, value in (word.partition("=") for word in words if "=" in word)}
    if not plain:
        raise ParameterError(ASKED, "a question is empty", FORMS)
    if plain == ["report"]:
        return PlannedQuestion("report", lambda data, budget: profile(data, budget, **options))
    before, _, groups = " ".join(plain).partition(" by ")
    function, columns = _named(before.split(), text)
    if inspect.isclass(function):
        return _learner(text, function(*map(_value, columns), **options))
    called = _places(function, columns, text) | ({"by": _one(groups.split())} if groups else {}) | options
    return _statistic(text, partial(function, **called))


def _named(words: list[str], text: str) -> tuple[Any, list[str]]:
    """What the first words name, and the others; a name may be of several words."""
    for size in range(len(words), 0, -1):
        name = "_".join(words[:size])
        name = discreet.MEANT.get(name, name).removeprefix("learners.")
        for room, kind in ((discreet, "discreet.statistics."), (discreet.learners, "discreet.learners.")):
            found = getattr(room, name) if name in room.__all__ else None
            if (
                found is not None
                and found.__module__.startswith(kind)
                and "epsilon" in inspect.signature(found).parameters
            ):
                return found, words[size:]
    raise ParameterError(ASKED, f"{text!r} begins with no name of a statistic or a learner", FORMS)


def _places(function: Any, columns: list[str], text: str) -> dict[str, Any]:
    """Which parameter the columns are for."""
    names = [name for name in inspect.signature(function).parameters if name in ("column", "columns", "target")]
    if not columns:
        return {}
    if not names or (len(columns) > 1 and "columns" not in names):
        raise ParameterError(ASKED, f"in {text!r}, {', '.join(columns)} cannot all be columns", FORMS)
    if names[0] == "target":
        return {"target": columns[0]} | ({"columns": columns[1:]} if columns[1:] else {})
    return {names[0]: columns if names[0] == "columns" else columns[0]}


def _one(names: list[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else names


def _value(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def _statistic(name: str, function: Callable[..., Any]) -> PlannedQuestion:
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
