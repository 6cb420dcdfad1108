"""What options of statistics, graphs and tables mean: those that many share are written once, and shown with each."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar

WRAPPER = textwrap.TextWrapper(
    116, initial_indent="    ", subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
)
SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w[\w, ]*?)(?: : (.*))?$")


class Meaning(NamedTuple):
    """The kind of an option, for readers, and what it does."""

    words: str
    meaning: str


COLUMN = {
    "data": Meaning("PrivateData, array of shape (n,), or data frame", "The records."),
    "column": Meaning("str, optional", "Public. The column; an array has one only."),
    "bounds": Meaning(
        "(float, float) or Schema, optional",
        "Public. For an array or data frame: values outside are moved to the nearer one. Private data have them in"
        " their schema.",
    ),
    "confidence": Meaning("float", "Public. Of the interval."),
}
COLUMNS = {
    "data": Meaning(
        "PrivateData, array of shape (n, columns), or data frame",
        "The records. One with a missing value in any of the columns counts for nothing.",
    ),
    "columns": Meaning(
        "sequence of str, optional",
        "Public. The columns; all that are numbers where not given. An array has x0, x1, ...",
    ),
    "bounds": Meaning(
        "(lower, upper) or Schema, optional",
        "Public. For an array or data frame: two numbers, or two sequences with one number per column; or a schema."
        " Values outside are moved to the nearer one. Private data have them in their schema.",
    ),
    "confidence": Meaning("float", "Public. Of each interval."),
}
EVERYWHERE = {
    "where": Meaning(
        "str, optional",
        "Public. Which records are meant, such as \"age >= 18 and sex == 'f'\"; see `PrivateData.where`. All by"
        " default.",
    ),
    "by": Meaning(
        "str or sequence of str, optional",
        "Public. The columns that make groups: with listed values, with a step, or with `edges`. All groups together"
        " cost what one does, and records without a group are in none.",
    ),
    "edges": Meaning(
        "sequence, or mapping of str to sequences, optional",
        "Public. The ends of the cells of a number in `by`, ascending, such as [18, 25, 45, 98]; what is outside is in"
        " no group.",
    ),
    "population": Meaning(
        "bool",
        "Public. Whether the intervals are for the population that the records are a sample of, drawn independently:"
        " then they hold sampling error and noise. Else they are for these data, and hold the noise alone.",
    ),
    "bins": Meaning(
        "int, or mapping of str to int",
        "Public. The number of cells of each numeric column. One with a step, such as whole numbers or dates, may have"
        " fewer: all but the last then hold equally many of its values.",
    ),
    "expected_size": Meaning(
        "int, optional",
        "Public. About how many records there are, from what is known without the data. A wrong number costs accuracy"
        " alone.",
    ),
    "epsilon": Meaning(
        "float",
        "Public. What this may cost, in all. With delta 0 the noise on sums is Laplace; else whichever of Laplace and"
        " Gaussian is less.",
    ),
    "key": Meaning("str, optional", "Public. Makes a retry safe; see `PrivateData.permit`."),
}
EVERYWHERE["delta"] = EVERYWHERE["epsilon"]
GRAPH = {
    "data": Meaning("PrivateGraph", "The graph; its unit is an edge."),
    "max_degree": Meaning(
        "int, optional",
        "Public. Where the unit is a node: how many edges of each node count at most. Edges beyond are left out, which"
        " the interval does not cover; see `choose_max_degree`.",
    ),
    "confidence": COLUMN["confidence"],
    "epsilon": Meaning("float", "Public. What this may cost."),
    "delta": Meaning("float", "Public. What this may cost."),
    "key": EVERYWHERE["key"],
    "random_state": Meaning("int, optional", "Public. Seeds the drawing of edges."),
}
GIVEN_AWAY = {
    "data": Meaning("PrivateData", "The records, with a curator."),
    "unchanged": Meaning("sequence of str", "Public. Columns that are given away as they are."),
    "waiver": Meaning("str", "Public. The owner's reason for a release without a promise, which goes on record."),
    "key": Meaning("str, optional", "Public. Makes a retry safe: the same table is given again."),
}
SHARED = {
    "column": COLUMN | EVERYWHERE,
    "columns": COLUMNS | EVERYWHERE,
    "graph": GRAPH,
    "given away": GIVEN_AWAY,
    "": COLUMN | COLUMNS | EVERYWHERE,
}


Described = TypeVar("Described", bound=Callable[..., Any])


def describing(subject: str, *like: Callable[..., Any]) -> Callable[[Described], Described]:
    """Fill a function's docstring with what its options mean in others like it, or wherever this is asked about.

    Examples
    --------
    >>> @describing("columns")
    ... def width(data, *, times, key=None):
    ...     '''Release a width.
    ...
    ...     Parameters
    ...     ----------
    ...     times : int
    ...         Public. How often.
    ...     '''
    >>> [line for line in width.__doc__.splitlines() if " : " in line]
    ['data : PrivateData, array of shape (n, columns), or data frame', 'times : int', 'key : str, optional']
    """

    def filled(function: Described) -> Described:
        function.__doc__ = documented((function, *like), subject, list(inspect.signature(function).parameters), {})
        return function

    return filled


Sources = Sequence[Callable[..., Any]]
"""A statistic, and those whose options of the same names mean the same."""


def described(sources: Sources, subject: str, names: Sequence[str], said: Mapping[str, str]) -> dict[str, Meaning]:
    """What each option of a statistic means: as docstrings say, as is declared, or as for all statistics."""
    own: dict[str, Meaning] = {}
    for one in reversed(sources):
        own |= _entries(_parts(inspect.getdoc(one) or "").get("Parameters", ""))
    usual = {name: SHARED[subject].get(name, Meaning("", "")) for name in names}
    usual |= {name: Meaning(usual[name].words, text) for name, text in said.items() if name in usual}
    return {name: own.get(name, usual[name]) for name in names}


def documented(sources: Sources, subject: str, names: Sequence[str], said: Mapping[str, str]) -> str:
    """The docstring of a statistic, with all of its options."""
    parts = _parts(inspect.getdoc(sources[0]) or "")
    meanings = described(sources, subject, names, said)
    lines: list[str] = []
    for together in _together(names, meanings):
        words, text = meanings[together[0]]
        lines += [f"{', '.join(together)} : {words}" if words else ", ".join(together), *WRAPPER.wrap(text)]
    head, *others = parts
    ordered = {head: parts[head], "Parameters": "\n".join(lines)} | {
        name: parts[name] for name in others if name != "Parameters"
    }
    return "\n\n".join(f"{name}\n{'-' * len(name)}\n{text}" if name else text for name, text in ordered.items())


def _together(names: Sequence[str], meanings: Mapping[str, Meaning]) -> list[list[str]]:
    """Options one after another that are explained together."""
    found: list[list[str]] = []
    for name in names:
        if found and meanings[found[-1][-1]] == meanings[name]:
            found[-1].append(name)
        else:
            found.append([name])
    return found


def _parts(doc: str) -> dict[str, str]:
    """The sections of a docstring, what comes before the first by an empty name."""
    head, *others = SECTION.split(doc)
    return {"": head.strip()} | {name: text.strip("\n") for name, text in zip(others[::2], others[1::2], strict=True)}


def _entries(section: str) -> dict[str, Meaning]:
    """What a section says of each option."""
    found: dict[str, Meaning] = {}
    names: list[str] = []
    for line in section.splitlines():
        entry = None if line.startswith(" ") else ENTRY.match(line)
        if entry is not None:
            names = entry[1].split(", ")
            found |= dict.fromkeys(names, Meaning(entry[2] or "", ""))
        else:
            more = {name: f"{found[name].meaning} {line.strip()}".strip() for name in names}
            found |= {name: Meaning(found[name].words, text) for name, text in more.items()}
    return found
