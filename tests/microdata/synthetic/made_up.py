"""Records with known dependences, and what a method asks about them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.microdata.synthetic.synthesis import SynthesisMethod, TableAsker, TableLayout
from discreet.microdata.synthetic.synthesize import METHODS, synthesize
from discreet.microdata.synthetic.synthetic_table import SyntheticTable
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.coded_tables import TableCodes
from discreet.releases.ask import ColumnsOf
from discreet.releases.joint_plan import JointPlan
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData

OTHERS = ("contingency", "mwem", "privbayes", "diffgen")
SIZES = {"a": 2, "b": 3, "c": 2, "d": 2, "kind": 2}
SCHEMA = Schema({name: Category(tuple("uvw"[:size])) for name, size in SIZES.items()})
NAMES = tuple(SIZES)


def cells(n: int = 3000, seed: int = 1) -> np.ndarray:
    """`c` is whether `a` and `d` differ, nine times in ten; `kind` goes with `b`, and `d` with it. One cell is rare."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, n), rng.choice(3, n, p=[0.5, 0.45, 0.05])
    kind = np.where(rng.random(n) < 0.8, b > 0, rng.integers(0, 2, n))
    d = np.where(rng.random(n) < 0.6, kind, rng.integers(0, 2, n))
    c = np.where(rng.random(n) < 0.9, a ^ d, 1 - (a ^ d))
    return np.column_stack([a, b, c, d, kind]).astype(float)


def rows_of(records: np.ndarray) -> dict[str, list[Any]]:
    """As columns of texts, in which what is no number is missing."""
    return {
        name: [None if np.isnan(x) else "uvw"[int(x)] for x in records[:, place]] for place, name in enumerate(NAMES)
    }


RECORDS = cells()
ROWS = rows_of(RECORDS)


def opened(
    seed: int, rows: dict[str, list[Any]] = ROWS, neighbors: Neighbors = Neighbors.ADD_REMOVE, **options: Any
) -> PrivateData:
    bits = DeterministicBits(seed)
    return PrivateData.of(rows, SCHEMA, Budget(50.0, 1e-6), bits=bits, neighbors=neighbors, **options)


def made(method: str, data: PrivateData, epsilon: float = 1.0, delta: float = 1e-6, **options: Any) -> SyntheticTable:
    if method == "diffgen":
        options = {"target": "kind", **options}
    return synthesize(data, method=method, epsilon=epsilon, delta=delta, **{"random_state": 1, **options})


def layout_of(method: str, data: PrivateData, pure: bool = True) -> TableLayout:
    target = NAMES.index("kind") if method == "diffgen" else None
    return TableLayout(SCHEMA, NAMES, 16, pure, data.curated, target=target)


class Recorded:
    """A permit that answers from a curator, and keeps what was asked; or one that says the same again."""

    def __init__(self, data: PrivateData, plan: JointPlan, said: list[Any] | None = None) -> None:
        self.questions: list[Any] = []
        self.said: list[Any] = []
        self._again = None if said is None else iter(said)
        self._permit = data.permit(plan.event, "test")

    def __enter__(self) -> Recorded:
        self._open = self._permit.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._permit.__exit__(*error)

    def ask(self, question: Any, mechanism: Any) -> Any:
        self.questions.append(question)
        self.said.append(self._open.ask(question, mechanism) if self._again is None else next(self._again))
        return self.said[-1]


def asked(
    method: str, data: PrivateData, said: list[Any] | None = None, pure: bool = True, unpaid: int | None = None
) -> tuple[Any, Recorded]:
    """The notes of a model, and what was asked for it; one of its parts may be left out of what is paid for."""
    plan: SynthesisMethod = METHODS[method].of(layout_of(method, data, pure))
    joint = JointPlan(plan.parts(1.0))
    paid = JointPlan(tuple(part for place, part in enumerate(joint.parts) if place != unpaid))
    with Recorded(data, paid, said) as permit:
        of = ColumnsOf(data, NAMES, budget=Budget(1.0), key=None)
        asker = TableAsker(permit, of, TableCodes.of(SCHEMA, NAMES, ((),) * len(NAMES)), "l1" if pure else "l2")  # type: ignore[arg-type]
        return plan.made(asker, joint.mechanisms).to_notes(), permit


def queries(seed: int, count: int, most: int = 3) -> Iterator[tuple[tuple[int, ...], str, int]]:
    """Columns, a condition on them, and how many records fulfil it."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        axes = rng.choice(len(NAMES), rng.integers(1, most + 1), replace=False)
        values = [rng.choice(SIZES[NAMES[axis]]) for axis in axes]
        where = " and ".join(f"{NAMES[axis]} == '{'uvw'[value]}'" for axis, value in zip(axes, values, strict=True))
        exact = (RECORDS[:, axes] == values).all(axis=1).sum()
        yield tuple(int(axis) for axis in axes), where, int(exact)
