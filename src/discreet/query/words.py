"""Questions in words, read against the declarations of statistics: by `plan`, by `discreet ask`, by whoever else asks.

A question is the name of a statistic, columns, groups, a condition and options: "mean of stay by ward where age >= 65",
"quantile of age q=0.9". Whatever form a question comes in, `statistic_asked` makes sure that the statistic takes it.
"""

from __future__ import annotations

import ast
import re
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import discreet
from discreet.core.checks import near_name
from discreet.core.errors import ParameterError
from discreet.core.parameters import check_parameters
from discreet.releases.declaration import Declaration, Option, declaration_of, is_statistic

JOINING = {"of", "and", "the"}
WORDS = re.compile(r"\w+=\[[^]]*\]|\w+=\{[^}]*\}|\w+=\S+|[^\s,]+")
PLACES = ("column", "columns", "target")  # what the columns of a question may be for


@dataclass(frozen=True)
class Wording:
    """The parts of a question in words.

    Parameters
    ----------
    text : str
        The whole.
    words : tuple of str
        The name of a statistic or a learner, and columns.
    options : dict of str to object
        What was said by name, groups and a condition included.

    Examples
    --------
    >>> Wording.of("mean of stay by ward and sex where age >= 65").options
    {'by': ['ward', 'sex'], 'where': 'age >= 65'}
    >>> Wording.of("quantile of age q=[0.1, 0.9]")
    Wording(text='quantile of age q=[0.1, 0.9]', words=('quantile', 'age'), options={'q': [0.1, 0.9]})
    """

    text: str
    words: tuple[str, ...]
    options: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Wording:
        """Take a question apart."""
        asked, _, condition = text.partition(" where ")
        found = WORDS.findall(asked)
        plain = [word for word in found if "=" not in word and word not in JOINING]
        named = [word.partition("=") for word in found if "=" in word]
        options = {name: value_of(value) for name, _, value in named}
        if "by" in plain[1:]:
            place = plain.index("by")
            plain, groups = plain[:place], plain[place + 1 :]
            options["by"] = groups[0] if len(groups) == 1 else groups
        return cls(text, tuple(plain), options | ({"where": condition} if condition else {}))

    @property
    def names(self) -> list[str]:
        """What the first words may be the name of, the longest first: a name may be of several words."""
        return ["_".join(self.words[:size]) for size in range(len(self.words), 0, -1)]

    @property
    def condition(self) -> str | None:
        """Which records are meant."""
        return self.options.get("where")


@dataclass(frozen=True)
class StatisticQuestion:
    """A statistic with what was said of it, ready to be asked of any data at any price."""

    function: Callable[..., Any]
    options: dict[str, Any]

    @property
    def words(self) -> str:
        """The same in words.

        Examples
        --------
        >>> statistic_asked("example", discreet.quantile, ["age"], {"q": 0.9}).words
        'quantile of age q=0.9'
        """
        columns = [one for name in PLACES for one in _names(self.options.get(name))]
        of = f" of {' and '.join(columns)}" if columns else ""
        said = [f" {name}={value!r}" for name, value in self.options.items() if name not in PLACES]
        return "".join([self.function.__name__, of, *said])


def _names(given: Any) -> list[str]:
    return [] if given is None else [given] if isinstance(given, str) else list(given)


@cache
def declared() -> dict[str, Callable[..., Any]]:
    """All public statistics, by name."""
    found = {name: getattr(discreet, name) for name in discreet.__all__}
    return {name: one for name, one in sorted(found.items()) if is_statistic(one)}


@cache
def sayable() -> tuple[str, ...]:
    """The names of the statistics that words are enough for: none of what they need is a function."""
    each = {name: declaration_of(one).options.values() for name, one in declared().items()}
    return tuple(name for name, options in each.items() if all(map(_in_text, options)))


def _in_text(option: Option) -> bool:
    return not option.required or typing.get_origin(option.kind) is not Callable


def named(words: Wording) -> tuple[Callable[..., Any], list[str]] | None:
    """The statistic that a question begins with, and the words behind its name; None where there is none."""
    for place, name in enumerate(words.names):
        meant = discreet.MEANT.get(name, name).replace("-", "_")
        if meant in declared():
            return declared()[meant], list(words.words[len(words.words) - place :])
    return None


def unknown(asked: str, name: str, ways: str) -> ParameterError:
    """The refusal of what is no statistic, with what was probably meant."""
    near = near_name(name.replace("-", "_"), sayable())
    remedy = f"Did you mean {near}?" if near is not None else f"{ways} There are {', '.join(sayable())}."
    return ParameterError(asked, f"there is no statistic {name!r}", remedy)


def statistic_asked(
    asked: str, function: Callable[..., Any], columns: Sequence[str], options: Mapping[str, Any]
) -> StatisticQuestion:
    """A question about these columns, once it is sure that the statistic takes it: refused before anything is spent.

    Examples
    --------
    >>> statistic_asked("example", discreet.mean, ["age"], {"by": "sex"}).options
    {'column': 'age', 'by': 'sex'}
    >>> statistic_asked("example", discreet.mean, ["age"], {"bins": 3})
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: example: mean takes no bins. Nothing was released or spent. It takes column, \
bounds, where, by, edges, confidence, population, epsilon, delta, key.
    """
    declaration = declaration_of(function)
    given = {**_placed(asked, declaration, list(columns)), **options}
    for name in given:
        if name == "by" and name not in declaration.options:
            obstacle = f"{declaration.title} is not asked of groups: {declaration.no_by}"
            raise ParameterError(asked, obstacle, "Leave out `by`.")
        if name not in declaration.options:
            obstacle = f"{declaration.title} takes no {name}"
            raise ParameterError(asked, obstacle, f"It takes {', '.join(declaration.options)}.")
    for option in declaration.options.values():
        if option.required and option.name not in given:
            remedy = (
                "Name it behind the statistic."
                if option.name in PLACES
                else f"Give --{option.name}, or {option.name}=..."
            )
            raise ParameterError(asked, f"{option.name} is missing", remedy)
    check_parameters(asked, declaration.checked, given)
    return StatisticQuestion(function, given)


def _placed(asked: str, declaration: Declaration, columns: list[str]) -> dict[str, Any]:
    """Which options the columns are for."""
    places = [name for name in declaration.options if name in PLACES]
    if not columns:
        return {}
    if not places or (len(columns) > 1 and "columns" not in places):
        obstacle = f"{', '.join(columns)} cannot all be columns of {declaration.title}"
        raise ParameterError(asked, obstacle, "Name one." if places else "Name none.")
    if places[0] == "target":
        return {"target": columns[0]} | ({"columns": columns[1:]} if columns[1:] else {})
    return {places[0]: columns if places[0] == "columns" else columns[0]}


def value_of(text: str) -> Any:
    """What a text says: a number, a list, a truth value, or itself.

    Examples
    --------
    >>> value_of("0.9"), value_of("[1, 2]"), value_of("tree"), value_of("2020-01-01")
    (0.9, [1, 2], 'tree', '2020-01-01')
    """
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text
