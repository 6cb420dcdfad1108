"""A question as it travels: names and plain values alone, read against what is declared, and nothing in it is run.

    {"words": "mean of stay by ward where age >= 65"}
    {"sql": "SELECT ward, avg(stay) FROM visits GROUP BY ward"}
    {"statistic": "mean", "options": {"column": "stay", "by": "ward"}}
    {"learner": "KMeans", "parameters": {"n_clusters": 4}}
    {"groups": {"by": ["ward"], "words": ["count", "mean of stay"]}}

Each may have `where` (a condition) and `derive` (`{"columns": {"hours": "stay * 24"}, "bounds": {}}`) beside it.
"""

from __future__ import annotations

import functools
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from functools import cached_property
from typing import Any

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.parameters import fits
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.query.forecast.planned_question import PlannedQuestion
from discreet.query.report import profile
from discreet.query.select.frame import GroupedData
from discreet.query.select.sql import is_sql, sql
from discreet.query.words import Wording, declared, named, statistic_asked, unknown, value_of
from discreet.trust.private_data import PrivateData

ASKED = "ask"
LONGEST = 20_000  # letters of a question as it is written
RECENT = 256  # texts whose meaning is remembered
DEEPEST = 16  # values inside one another
KINDS = ("words", "sql", "statistic", "learner", "groups")
BESIDE = {
    "words": (),
    "sql": ("edges", "bounds", "most", "confidence"),
    "statistic": ("options",),
    "learner": ("parameters",),
    "groups": (),
}
WAYS = 'Write such as "mean of stay by ward where age >= 65", "KMeans n_clusters=4", "report" or "SELECT ...".'
GROUPED = {"by", "words", "labelled", "edges", "confidence", "bounds", "weights"}
APART = ("data", "epsilon", "delta", "key")  # said beside the question


@dataclass(frozen=True)
class AskedQuestion:
    """A question that is sure to be declared, to be put to any data set at any price.

    Parameters
    ----------
    plain : dict
        Public. The form in which it travels.
    name : str
        Public. In words, for people.
    kind : str
        Public. One of "statistic", "report", "learner", "sql" and "groups": what it comes to.
    asks : callable
        Called with private data, a budget and a key.
    options : dict
        Public. What is given for parameters of a statistic, a report or a learner.

    Examples
    --------
    >>> AskedQuestion.read("mean of age by sex").plain
    {'words': 'mean of age by sex'}
    >>> AskedQuestion.read({"statistic": "mean", "options": {"column": "age"}}).name
    'mean column=age'
    >>> AskedQuestion.read({"learner": "KMeans", "parameters": {"n_clusters": 3}}).kind
    'learner'
    """

    plain: dict[str, Any]
    name: str
    kind: str
    asks: Any
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def read(cls, given: Any) -> AskedQuestion:
        """The question that is meant, by words, SQL or its plain form; refused where nothing such is declared."""
        return _read_text(given) if isinstance(given, str) else _read(given)

    @cached_property
    def text(self) -> str:
        """The form in which it is kept: equal questions are written alike."""
        return json.dumps(self.plain, sort_keys=True, separators=(",", ":"))

    @property
    def long(self) -> bool:
        """Whether it is worked on for long, so that whoever asks had better come back for the answer."""
        return self.kind in ("learner", "report") or "synthesize" in self.name

    def ask(self, data: PrivateData, budget: Budget, key: str | None = None) -> Any:
        """Put it to private data, which are paid for by their own account."""
        return self.asks(self.chosen(data), budget, key)

    def chosen(self, data: PrivateData) -> PrivateData:
        """The records that it is about, with the columns that it computes."""
        derive, where = self.plain.get("derive"), self.plain.get("where")
        if derive is not None:
            data = data.derive(bounds=derive.get("bounds") or None, **derive["columns"])
        return data if where is None else data.where(where)

    @property
    def planned(self) -> PlannedQuestion:
        """The same, for `plan`."""
        return PlannedQuestion(self.name, lambda data, budget: self.ask(data, budget))


def _read(given: Any) -> AskedQuestion:
    plain = _plain(given)
    (kind,) = [name for name in KINDS if name in plain]
    return _refusing(lambda: _READERS[kind](plain))


_read_text = functools.lru_cache(maxsize=RECENT)(_read)
"""Of a text, which is read once: what it means depends on nothing else."""


def _named(text: str) -> dict[str, Any]:
    kind = "sql" if is_sql(text) else "words"
    return {kind: text}


def plain_text(given: Any) -> str:
    """A question as it is kept, without a look at whether it may be asked: to be compared with one that was.

    Examples
    --------
    >>> plain_text("mean of age") == AskedQuestion.read({"words": "mean of age"}).text
    True
    """
    plain = _named(given) if isinstance(given, str) else given
    return json.dumps(plain, sort_keys=True, separators=(",", ":"))


def _plain(given: Any) -> dict[str, Any]:
    """The plain form, once it has one kind and nothing that nobody would read."""
    if isinstance(given, str):
        given = _named(given)
    if not isinstance(given, Mapping):
        raise ParameterError(ASKED, f"{given!r:.60} is not a question", WAYS)
    kinds = [name for name in KINDS if name in given]
    if len(kinds) != 1:
        obstacle = f"it is said in {len(kinds)} ways" if kinds else "no question is given"
        raise ParameterError(ASKED, obstacle, f"Give one of {', '.join(KINDS)}.")
    known = (kinds[0], *BESIDE[kinds[0]], "where", "derive")
    for name in given:
        if name not in known:
            obstacle = f"nothing is called {name!r:.60} beside {kinds[0]!r}"
            raise ParameterError(ASKED, obstacle, f"Known here: {', '.join(known)}.")
    plain = {str(name): _value(value) for name, value in given.items()}
    if len(json.dumps(plain)) > LONGEST:
        raise ParameterError(ASKED, f"it has more than {LONGEST:,} letters", "Ask less at once.")
    _check_beside(plain)
    return plain


def _value(value: Any, depth: int = 0) -> Any:
    """A plain value: what JSON has, and tuples; anything else is refused."""
    if depth > DEEPEST:
        raise ParameterError(ASKED, "values are too deep inside one another", "Ask less at once.")
    match value:
        case None | bool() | str():
            return value
        case int() | float():
            if (
                (isinstance(value, int) and abs(value) > 2**63)
                or value != value
                or value in (float("inf"), -float("inf"))
            ):
                raise ParameterError(ASKED, "a number is not finite, or too large", "Give numbers below 2**63.")
            return value
        case Mapping():
            return {_name(key): _value(one, depth + 1) for key, one in value.items()}
        case tuple():
            return {"tuple": [_value(one, depth + 1) for one in value]}
        case list():
            return [_value(one, depth + 1) for one in value]
    obstacle = f"a {type(value).__name__} does not travel"
    raise ParameterError(ASKED, obstacle, "Give numbers, texts, truth values, and lists of these.")


def _name(key: Any) -> str:
    if not isinstance(key, str):
        raise ParameterError(ASKED, f"{key!r:.60} is no name", "Give texts as names.")
    return key


def _meant(value: Any) -> Any:
    """The values that plain ones stand for."""
    match value:
        case {"tuple": list() as parts} if len(value) == 1:
            return tuple(map(_meant, parts))
        case {"learner": str() as name, "parameters": dict() as given} if len(value) == 2:
            return _step(name, {key: _meant(one) for key, one in given.items()})
        case dict():
            return {key: _meant(one) for key, one in value.items()}
        case list():
            return [_meant(one) for one in value]
    return value


def _step(name: str, parameters: dict[str, Any]) -> PrivateEstimator:
    """A learner inside another, such as a step of a pipeline."""
    if name not in learners():
        raise ParameterError(ASKED, f"there is no learner {name!r:.60}", f"There are {', '.join(sorted(learners()))}.")
    return learners()[name](**parameters)


def _check_beside(plain: dict[str, Any]) -> None:
    where, derive = plain.get("where"), plain.get("derive")
    if not isinstance(where, str | None):
        raise ParameterError(ASKED, f"where is {where!r:.60}", 'Write such as "age >= 65".')
    if derive is None:
        return
    columns = derive.get("columns") if isinstance(derive, dict) else None
    if not isinstance(columns, dict) or not columns or derive.keys() - {"columns", "bounds"}:
        raise ParameterError(ASKED, f"derive is {derive!r:.60}", 'Write {"columns": {"hours": "stay * 24"}}.')
    bounds = derive.get("bounds") or {}
    if not isinstance(bounds, dict) or "bounds" in columns or not all(isinstance(one, str) for one in columns.values()):
        raise ParameterError(ASKED, f"derive is {derive!r:.60}", 'Write {"columns": {"hours": "stay * 24"}}.')
    derive["bounds"] = {name: _meant(one) for name, one in bounds.items()}


def _refusing(read: Any) -> AskedQuestion:
    """Let nothing but refusals come out of reading a question."""
    try:
        found: AskedQuestion = read()
    except DiscreetError:
        raise
    except (TypeError, ValueError, SyntaxError, MemoryError, RecursionError, OverflowError, AttributeError) as why:
        raise ParameterError(ASKED, f"it cannot be read ({str(why)[:200]})", WAYS) from None
    return found


def _words(plain: dict[str, Any]) -> AskedQuestion:
    wording = Wording.of(_text(plain, "words"))
    if not wording.words:
        raise ParameterError(ASKED, "the question is empty", WAYS)
    if (found := named(wording)) is not None:
        function, columns = found
        return _of_statistic(plain, wording.text, function, columns, wording.options)
    name, *others = wording.words
    if name in ("report", "profile"):
        return _report(plain, wording)
    if name not in learners():
        raise unknown(f"{ASKED} {wording.text!r:.80}", name, WAYS)
    options, where = dict(wording.options), wording.condition
    options.pop("where", None)
    kind = learners()[name]
    given = inspect.signature(kind).bind_partial(*map(value_of, others), **options).arguments
    return _of_learner(plain, wording.text, name, dict(given), where)


def _report(plain: dict[str, Any], wording: Wording) -> AskedQuestion:
    options = {name: value for name, value in wording.options.items() if name != "where"}
    if unread := options.keys() - {"bins", "quantiles"}:
        raise ParameterError(ASKED, f"report takes no {min(unread)}", "It takes bins and quantiles.")

    def asks(data: PrivateData, budget: Budget, key: str | None) -> Any:
        chosen = data if wording.condition is None else data.where(wording.condition)
        return profile(chosen, budget, key=key, **options)

    return AskedQuestion(plain, wording.text, "report", asks, options)


def _sql(plain: dict[str, Any]) -> AskedQuestion:
    text = _text(plain, "sql")
    beside = BESIDE["sql"]
    options = {name: _meant(plain[name]) for name in beside if plain.get(name) is not None}

    def asks(data: PrivateData, budget: Budget, key: str | None) -> Any:
        return sql(data, text, **asdict(budget), **options, key=key)

    return AskedQuestion(plain, " ".join(text.split()), "sql", asks)


def _statistic(plain: dict[str, Any]) -> AskedQuestion:
    name, options = _text(plain, "statistic"), _named_values(plain, "options")
    if name not in declared():
        raise unknown(f"{ASKED} {name!r:.80}", name, WAYS)
    shown = " ".join([name, *(f"{key}={value}" for key, value in options.items())])
    return _of_statistic(plain, shown, declared()[name], [], options)


def _of_statistic(
    plain: dict[str, Any], name: str, function: Any, columns: Sequence[str], options: Mapping[str, Any]
) -> AskedQuestion:
    for apart in APART:
        if apart in options:
            raise ParameterError(f"{ASKED} {name:.80}", f"{apart} is said in the question", "Say it beside it.")
    question = statistic_asked(f"{ASKED} {name:.80}", function, columns, options)

    def asks(data: PrivateData, budget: Budget, key: str | None) -> Any:
        return question.function(data, **question.options, **asdict(budget), key=key)

    return AskedQuestion(plain, name, "statistic", asks, dict(question.options))


def _learner(plain: dict[str, Any]) -> AskedQuestion:
    name, parameters = _text(plain, "learner"), _named_values(plain, "parameters")
    return _of_learner(plain, name, name, parameters, None)


def _of_learner(
    plain: dict[str, Any], shown: str, name: str, parameters: dict[str, Any], where: str | None
) -> AskedQuestion:
    if name not in learners():
        raise ParameterError(ASKED, f"there is no learner {name!r:.60}", f"There are {', '.join(sorted(learners()))}.")
    for apart in APART:
        if apart in parameters:
            raise ParameterError(f"{ASKED} {shown:.80}", f"{apart} is said in the question", "Say it beside it.")
    known = inspect.signature(learners()[name]).parameters
    for one in parameters:
        if one not in known:
            raise ParameterError(f"{ASKED} {shown:.80}", f"{name} takes no {one:.60}", f"It takes {', '.join(known)}.")

    def asks(data: PrivateData, budget: Budget, key: str | None) -> Any:
        chosen = data if where is None else data.where(where)
        return learners()[name](**parameters, **asdict(budget)).fit(chosen, key=key)

    return AskedQuestion(plain, shown, "learner", asks, parameters)


def _groups(plain: dict[str, Any]) -> AskedQuestion:
    given = plain["groups"]
    if not isinstance(given, dict) or given.keys() - GROUPED:
        raise ParameterError(ASKED, f"groups is {given!r:.60}", 'Write {"by": ["ward"], "words": ["count"]}.')
    by, words = given.get("by", []), given.get("words", [])
    labelled, edges = given.get("labelled", {}), _meant(given.get("edges"))
    options = {one: _meant(given[one]) for one in ("bounds", "weights") if given.get(one) is not None}
    confidence = {} if given.get("confidence") is None else {"confidence": _meant(given["confidence"])}
    texts = isinstance(labelled, dict) and all(isinstance(one, str) for one in labelled.values())
    if not fits(by, list[str]) or not fits(words, list[str]) or not texts or labelled.keys() & {"bounds", "weights"}:
        raise ParameterError(ASKED, f"groups is {given!r:.60}", 'Write {"by": ["ward"], "words": ["count"]}.')

    def asks(data: PrivateData, budget: Budget, key: str | None) -> Any:
        query = GroupedData(data, tuple(by), edges).aggregate(*words, **options, **labelled)
        return query.release(**asdict(budget), **confidence, key=key)

    return AskedQuestion(plain, f"{', '.join(map(str, words))} by {' '.join(map(str, by))}", "groups", asks)


_READERS: dict[str, Any] = {
    "words": _words,
    "sql": _sql,
    "statistic": _statistic,
    "learner": _learner,
    "groups": _groups,
}


def _text(plain: dict[str, Any], name: str) -> str:
    if not isinstance(plain[name], str):
        raise ParameterError(ASKED, f"{name} is {plain[name]!r:.60}, which is no text", WAYS)
    return str(plain[name])


def _named_values(plain: dict[str, Any], name: str) -> dict[str, Any]:
    given = plain.get(name) or {}
    if not isinstance(given, dict):
        raise ParameterError(ASKED, f"{name} is {given!r:.60}", "Give values by name.")
    return {key: _meant(one) for key, one in given.items()}


@functools.cache
def learners() -> dict[str, type[PrivateEstimator]]:
    """All learners that one price is paid for by themselves, by name."""
    found = {name: getattr(discreet.learners, name) for name in discreet.learners.__all__}
    return {name: one for name, one in found.items() if inspect.isclass(one) and issubclass(one, PrivateEstimator)}
