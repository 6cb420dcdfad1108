"""What a statistic brings for the trial that all statistics are put through, and the records that it is asked of."""

from __future__ import annotations

import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal, Union

import numpy as np

from discreet.core.parameters import fits
from discreet.releases.declaration import Declaration, declaration_of
from discreet.schema.schema import Category, Number, Schema, Text
from tests.conformance.walk import mirror

SCHEMA = Schema({"x": Number(-20, 20), "y": Number(0, 1), "kind": Category(("a", "b", "c")), "name": Text()})
NAN, INF = float("nan"), float("inf")
USUAL = {"column": "x", "columns": ("x", "y")}
WRONG: dict[str, list[Any]] = {
    "epsilon": [0.0, -1.0],
    "delta": [-1e-6, 1.0],
    "confidence": [0.0, 1.0, -0.5, 95],
    "column": ["nobody", ""],
    "columns": [("x", "nobody"), ("x", "x"), (), "nobody"],
    "by": ["nobody", "x", (), ("kind", "kind"), ["kind", "name"]],
    "where": ["nobody > 3", "", "x >", "x > 3 and"],
    "edges": [[3], [2, 1], "ab", {"nobody": [0, 1]}],
    "bins": [0, 2**60],
}
"""What is refused of options that statistics share; what is refused of its own, a statistic's test file says."""
KINDS: dict[Any, list[Any]] = {
    float: [NAN, INF, "one", 1j],
    int: [-3, 2.5, NAN, "many"],
    bool: ["yes", 7, None],
    str: [7, 2.5],
}
"""What no option of a kind may be."""
EXTREME: dict[str, list[Any]] = {
    "epsilon": [1e-12, 1e4],
    "delta": [1e-6, 1e-300],
    "confidence": [1e-9, 1 - 1e-16],
    "columns": [("kind",), ("x", "kind"), ("x", "y", "kind")],
    "bounds": [(0, 1), (-1e308, 1e308)],
    "bins": [1, 10**9],
    "by": ["kind"],
    "where": ["x > 1e308", "x < 5e-324", "x is missing", " and ".join(["y <= 3"] * 400), f"{'(' * 99}x > 3{')' * 99}"],
    "edges": [(-20.0, 5e-324, 20.0), (-1e300, 1e300), tuple(np.linspace(-20, 20, 12).tolist())],
}
"""What is answered, or refused before a charge, of options that statistics share."""
ENDS: dict[Any, list[Any]] = {
    float: [1e-300, 1e300],
    int: [1, 2**60],
    bool: [True, False],
    str: ["", "kind", "z" * 10_000],
}
"""The same of options of a kind."""


@dataclass(frozen=True)
class StatisticTrial:
    """A statistic as it is asked in its trial.

    Parameters
    ----------
    options : dict of str to object
        What is given, beside a column or two; of records with the columns of `SCHEMA`.
    hostile : dict of str to list
        Values of its own options that are refused before anything is spent.
    extreme : dict of str to list
        Values of its own options, at the ends of what they may be, that are answered, or refused before a charge; in
        addition to those of their kind.
    arrays : bool
        Whether an array with bounds is enough.
    elsewhere : str
        Why extremes, and texts of others, are tried by its own tests alone.
    replayed : bool
        Whether the same bits give the same result.
    """

    options: dict[str, Any] = field(default_factory=dict)
    hostile: dict[str, list[Any]] = field(default_factory=dict)
    extreme: dict[str, list[Any]] = field(default_factory=dict)
    arrays: bool = True
    elsewhere: str = ""
    replayed: bool = True

    def given(self, declaration: Declaration) -> dict[str, Any]:
        """All that is given."""
        taken = {name: value for name, value in USUAL.items() if name in declaration.options}
        return taken | self.options

    def mistakes(self, declaration: Declaration) -> Iterator[tuple[str, Any]]:
        """What is refused of each option: for its name, for its kind, and as its test file says."""
        for name, option in declaration.options.items():
            for value in (*self.hostile.get(name, ()), *WRONG.get(name, ()), *_of_kind(option.kind)):
                yield name, value

    def extremes(self, declaration: Declaration) -> Iterator[tuple[str, Any]]:
        """The ends of what each option may be: for its name or its kind, and as its test file says."""
        for name, option in declaration.options.items():
            for value in (*self.extreme.get(name, ()), *(EXTREME.get(name) or _ends(option.kind))):
                yield name, value


def _of_kind(kind: Any) -> list[Any]:
    """Values that fit no part of an annotation."""
    parts = typing.get_args(kind) if typing.get_origin(kind) in (Union, types.UnionType) else (kind,)
    if any(typing.get_origin(one) is Literal for one in parts):
        return ["nobody", 7]
    values = [value for one in parts for value in KINDS.get(one, ())] if all(map(_plain, parts)) else []
    return [value for value in values if not fits(value, kind) and value != ""]


def _ends(kind: Any) -> list[Any]:
    """The greatest and least values of all parts of an annotation, and every word of a choice."""
    parts = typing.get_args(kind) if typing.get_origin(kind) in (Union, types.UnionType) else (kind,)
    words = [word for one in parts if typing.get_origin(one) is Literal for word in typing.get_args(one)]
    return words + [value for one in parts for value in ENDS.get(one, ())]


def _plain(kind: Any) -> bool:
    return kind in KINDS or kind is types.NoneType


@cache
def trial_of(function: Any) -> StatisticTrial:
    """How a statistic is asked: as its own test file says, by its name where a file has several; or as any."""
    try:
        brought = mirror(function)
    except ModuleNotFoundError:
        return StatisticTrial()
    found = getattr(brought, "TRIALS", {}).get(function.__name__) or getattr(brought, "TRIAL", None)
    return found if isinstance(found, StatisticTrial) else StatisticTrial()


def table(rows: int, seed: int = 0) -> dict[str, Any]:
    """Records with the columns of `SCHEMA`."""
    rng = np.random.default_rng(seed)
    return {
        "x": rng.normal(5, 3, rows),
        "y": rng.uniform(0, 1, rows),
        "kind": rng.choice(["a", "b", "c", "other"], rows).tolist(),
        "name": ["somebody"] * rows,
    }


def asked(function: Any, data: Any, **more: Any) -> Any:
    """What a statistic finds, as its trial asks it."""
    return function(data, **trial_of(function).given(declaration_of(function)) | more)
