"""Synthetic tables beside MST and AIM: how far they are off, how long they take, what a model learns from them.

mbi and smartnoise-synth run in environments of their own (`peers/*_synthesis.txt`). `adult.csv.gz` lies in the folder
DISCREET_DATA. SEEDS= says how often each is run, five times by default. MST takes a minute each time, so what a peer
made is kept in `build/bench/peers`, under a digest of all that it was given, and not made again; that it failed, too.

    python -m benchmarks.release_synthetic

makes the next table of a peer that is not there yet, and says what is left; its exit code is 1 where nothing is. So
peers may be run piece by piece, before the figures are taken (`python -m benchmarks.release synthetic`). With MAKE=0
figures are taken of what peers made so far, and rows say of how many seeds.

Columns are cut into 16 public cells of equal width for everybody here, since peers know no others; the rows about cells
of numbers take the values themselves. Networks are made up anew, from seeds that no setting was chosen on.

Claims are about as many tables of ours as of a peer. At epsilon .1 the mean of five has an error of 1.5 %, on top of a
percent that MST's five have: so beside each claim about the tree its ratio is printed for all that are made of it, four
for each table of a peer.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier

from benchmarks.rows import Row, at_least, at_most, missing, printed
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.microdata import SyntheticTable, synthesize
from discreet.query.forecast.plan import plan
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData

ADULT = Path(os.environ.get("DISCREET_DATA", "shared/data")) / "adult.csv.gz"
RANGES = {
    "age": (17, 90),
    "fnlwgt": (0, 1_500_000),
    "education-num": (1, 17),
    "capital-gain": (0, 100_000),
    "capital-loss": (0, 4400),
    "hours-per-week": (1, 100),
}
BINS, DELTA = 16, 1e-9
SEEDS = range(int(os.environ.get("SEEDS", "5")))
TREES = range(4 * len(SEEDS))
EPSILONS = (0.1, 1.0, 10.0)
PATIENCE = 900  # seconds of processor time that a peer is given
MAKES = os.environ.get("MAKE", "1") != "0"
KEPT = Path("build/bench/peers")


def adult() -> tuple[list[str], Array]:
    """The names and the texts of all records."""
    with gzip.open(ADULT, "rt") as file:
        lines = list(csv.reader(file))
    return [name.strip() for name in lines[0]], np.array([[text.strip() for text in line] for line in lines[1:]])


def cut_adult() -> tuple[Array, list[int]]:
    """Cells, and how many each column has."""
    names, texts = adult()
    rows, sizes = [], []
    for name, values in zip(names, texts.T, strict=True):
        if name in RANGES:
            low, high = RANGES[name]
            rows.append(np.clip(((values.astype(float) - low) / (high - low) * BINS).astype(int), 0, BINS - 1))
            sizes.append(BINS)
        else:
            known, places = np.unique(values, return_inverse=True)
            rows.append(places)
            sizes.append(len(known))
    return np.column_stack(rows), sizes


def network(seed: int, parents: int, columns: int = 10, n: int = 20_000) -> tuple[Array, list[int]]:
    """Records of columns that depend on one or more of those before: on one alone, they make a tree."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([2, 3, 4, 5, 8, 10, 16], columns).tolist()
    rows = np.zeros((n, columns), dtype=int)
    for place, size in enumerate(sizes):
        scores = np.log(rng.dirichlet(np.full(size, 0.6)) + 1e-3) + np.zeros((n, size))
        for own in rng.choice(place, min(place, parents), replace=False) if place else ():
            scores = scores + rng.normal(0, 1.2, (sizes[own], size))[rows[:, own]]
        rows[:, place] = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return rows, sizes


def distances(rows: Array, made: Array, sizes: list[int]) -> list[float]:
    """The mean distance of all tables of two columns, and of three."""
    cells = [size + 1 for size in sizes]  # the last is for values that are missing

    def shares(table: Array, axes: tuple[int, ...]) -> Array:
        places: Any = tuple(table[:, axis] for axis in axes)
        codes = np.ravel_multi_index(places, [cells[axis] for axis in axes])
        return np.bincount(codes, minlength=int(np.prod([cells[axis] for axis in axes]))) / len(table)

    return [
        float(np.mean([np.abs(shares(rows, axes) - shares(made, axes)).sum() / 2 for axes in sets]))
        for sets in (list(combinations(range(len(sizes)), width)) for width in (2, 3))
    ]


def ours(rows: Array, sizes: list[int], epsilon: float, seed: int, **options: Any) -> tuple[SyntheticTable, float]:
    """A table of ours, and the processor time from arrays to records."""
    start = time.process_time()
    schema = Schema({f"c{place}": Number(0, size - 1, step=1) for place, size in enumerate(sizes)})
    values = {f"c{place}": own.astype(float) for place, own in enumerate(rows.T)}
    data = PrivateData.of(values, schema, Budget(epsilon, DELTA))
    made = synthesize(data, epsilon=epsilon, delta=DELTA, random_state=seed, bins=max(sizes), **options)
    return made, time.process_time() - start


def cells_of(table: SyntheticTable, sizes: list[int]) -> Array:
    return np.where(np.isnan(table.records), sizes, table.records).astype(int)


@dataclass(frozen=True)
class Peer:
    """A method of another package."""

    package: str
    method: str

    def kept(self, rows: Array, sizes: list[int], epsilon: float, seed: int) -> Path:
        """Where its table is kept, made of these records."""
        asked = f"{self.method} {sizes} {epsilon} {DELTA} {seed} {rows.shape}".encode()
        given = [self._file("py").read_bytes(), self._file("txt").read_bytes(), asked]
        digest = hashlib.sha256(b"|".join([*given, np.ascontiguousarray(rows, np.int64).tobytes()])).hexdigest()
        return KEPT / f"{self.package}_{self.method}_{digest[:24]}.npz"

    def _file(self, ending: str) -> Path:
        return Path(__file__).parent / "peers" / f"{self.package}_synthesis.{ending}"

    def make(self, rows: Array, sizes: list[int], epsilon: float, seed: int) -> Path:
        """Have it make a table, unless it did, or failed."""
        kept = self.kept(rows, sizes, epsilon, seed)
        if kept.exists() or kept.with_suffix(".failed").exists():
            return kept
        kept.parent.mkdir(parents=True, exist_ok=True)
        python = os.environ.get(f"DISCREET_{self.package.upper()}", f".venv/bench-{self.package}/bin/python")
        with tempfile.TemporaryDirectory() as place:
            source, out = f"{place}/rows.npz", f"{place}/out.npz"
            np.savez(source, rows=rows, sizes=sizes)
            words = [python, str(self._file("py")), self.method, source, out, str(epsilon), str(DELTA), str(seed)]
            try:
                told = subprocess.run(words, check=True, capture_output=True, text=True, preexec_fn=_limited).stdout
            except subprocess.SubprocessError as failed:
                kept.with_suffix(".failed").write_text(f"{failed}\n{getattr(failed, 'stderr', '')}")
            else:
                made = np.load(out)["rows"].astype(np.int32)
                np.savez_compressed(kept, rows=made, spent=float(told.split()[-1]))
        return kept

    def __call__(self, rows: Array, sizes: list[int], epsilon: float, seed: int) -> tuple[Array, float]:
        """Its table, and its processor time.

        Raises
        ------
        FileNotFoundError
            It is not installed, failed, took too long, or is not to be made now.
        """
        made = np.load((self.make if MAKES else self.kept)(rows, sizes, epsilon, seed))
        return made["rows"].astype(np.int64), float(made["spent"])


def _limited() -> None:
    """Of a peer's process: it ends when its time is over, however busy the machine is."""
    resource.setrlimit(resource.RLIMIT_CPU, (PATIENCE, PATIENCE))


MST, SMART_MST, AIM = Peer("mbi", "mst"), Peer("snsynth", "mst"), Peer("snsynth", "aim")


def tables() -> dict[str, tuple[Array, list[int]]]:
    """Records and sizes of columns."""
    return {"Adult": cut_adult(), "a tree": network(301, 1), "a network": network(302, 2)}


def part() -> tuple[Array, list[int]]:
    """A table that AIM finishes."""
    return network(303, 2, columns=6)


def wanted() -> Iterator[tuple[Peer, Array, list[int], float, int]]:
    """All that peers are asked for, one seed after another."""
    every = tables()
    for seed in SEEDS:
        for rows, sizes in every.values():
            yield SMART_MST, rows, sizes, 1.0, seed
            for epsilon in EPSILONS:
                yield MST, rows, sizes, epsilon, seed
        yield AIM, *part(), 1.0, seed


def next_piece() -> int:
    """Have a peer make the next table; the exit code is 1 where none is left."""
    left = []
    for peer, rows, sizes, epsilon, seed in wanted():
        kept = peer.kept(rows, sizes, epsilon, seed)
        if not (kept.exists() or kept.with_suffix(".failed").exists()):
            left.append((peer, rows, sizes, epsilon, seed))
    if not left:
        return 1
    peer, rows, sizes, epsilon, seed = left[0]
    peer.make(rows, sizes, epsilon, seed)
    print(f"{peer.package} {peer.method}, epsilon {epsilon:g}, seed {seed}: {len(left) - 1} left", flush=True)
    return 0


@dataclass(frozen=True)
class Measured:
    """What tables of some method are like: their mean distances, and the median time."""

    each: list[list[float]]
    seconds: float

    @property
    def seeds(self) -> int:
        return len(self.each)

    @property
    def distances(self) -> list[float]:
        """Of two columns, and of three."""
        return np.mean(self.each, axis=0).tolist()

    def first(self, seeds: int) -> Measured:
        """Of some tables alone."""
        return Measured(self.each[:seeds], self.seconds)


def beside(
    title: str,
    rows: Array,
    sizes: list[int],
    epsilon: float,
    run: Callable[[int], tuple[Array, float]],
    seeds: range = SEEDS,
) -> Measured | Row:
    """Of all seeds, or of those that a peer made so far where it makes no more; or what is missing."""
    found = []
    for seed in seeds:
        try:
            found.append(run(seed))
        except FileNotFoundError:
            if MAKES:
                break
    if not found or (MAKES and len(found) < len(seeds)):
        return missing(f"{title}, epsilon {epsilon:g}")
    each = [distances(rows, made, sizes) for made, _ in found]
    return Measured(each, float(np.median([spent for _, spent in found])))


def compared(name: str, rows: Array, sizes: list[int], epsilon: float) -> list[Row]:
    """The tree, and at epsilon 1 the adaptive method, beside peers."""
    about = f"{name}, epsilon {epsilon:g}"

    def own(method: str, seeds: range) -> Measured:
        def run(seed: int) -> tuple[Array, float]:
            table, spent = ours(rows, sizes, epsilon, seed, method=method)
            return cells_of(table, sizes), spent

        found = beside(method, rows, sizes, epsilon, run, seeds)
        assert isinstance(found, Measured)
        return found

    ours(rows, sizes, epsilon, 0)  # to be warm
    every = own("tree", TREES)
    tree = every.first(len(SEEDS))
    found = [
        printed(f"{about}: tree, {width}-way distance", far) for width, far in zip("23", tree.distances, strict=True)
    ]
    mst = beside(f"{name}: mbi's MST", rows, sizes, epsilon, lambda seed: MST(rows, sizes, epsilon, seed))
    if isinstance(mst, Row):
        return [*found, mst]
    of = "" if mst.seeds == len(SEEDS) else f" of {mst.seeds} seeds"
    for width, far, more, theirs in zip("23", tree.distances, every.distances, mst.distances, strict=True):
        found.append(at_most(f"{about}: tree over MST{of} ({theirs:.4f}), {width}-way distance", far / theirs, 1.05))
        found.append(printed(f"{about}: the same of {every.seeds} tables of ours", more / theirs))
    words = f"{about}: MST's processor time{of} ({mst.seconds:.0f} s) over the tree's"
    found.append(at_least(words, mst.seconds / tree.seconds, 300))
    if epsilon != 1:
        return found
    adaptive = own("adaptive", SEEDS)
    for width, far, theirs in zip("23", adaptive.distances, mst.distances, strict=True):
        goal = at_most(f"{about}: adaptive over MST{of}, {width}-way distance", far / theirs, 0.75)
        found.append(goal if name == "Adult" else printed(goal.claim, goal.measured))
    found.append(at_most(f"{about}: adaptive, seconds of processor time", adaptive.seconds, 15))
    smart = beside(
        f"{name}: smartnoise's MST",
        rows,
        sizes,
        epsilon,
        lambda seed: SMART_MST(rows, sizes, epsilon, seed),
    )
    if isinstance(smart, Row):
        return [*found, smart]
    for width, far, theirs in zip("23", tree.distances, smart.distances, strict=True):
        words = f"{about}: tree over smartnoise's MST ({theirs:.4f}), {width}-way distance"
        found.append(at_most(words, far / theirs, 0.3))
    return found


def aim() -> list[Row]:
    """The adaptive method beside AIM, on a table that AIM finishes."""
    rows, sizes = part()
    made = [cells_of(ours(rows, sizes, 1.0, seed, method="adaptive")[0], sizes) for seed in SEEDS]
    mine = np.mean([distances(rows, own, sizes) for own in made], axis=0)
    theirs = beside("AIM", rows, sizes, 1.0, lambda seed: AIM(rows, sizes, 1.0, seed))
    if isinstance(theirs, Row):
        return [theirs]
    words = "six columns, epsilon 1: adaptive over AIM"
    return [
        at_most(f"{words} ({other:.4f}), {width}-way distance", own / other, 1.1)
        for width, own, other in zip("23", mine, theirs.distances, strict=True)
    ]


def learned() -> list[Row]:
    """What a model learns from a table, and from the truth."""
    rows, sizes = cut_adult()
    order = np.random.default_rng(0).permutation(len(rows))
    test, train = rows[order[: len(rows) // 4]], rows[order[len(rows) // 4 :]]

    def right(table: Array) -> float:
        model = HistGradientBoostingClassifier(categorical_features=list(range(len(sizes) - 1)), random_state=0)
        return float(model.fit(table[:, :-1], table[:, -1]).score(test[:, :-1], test[:, -1]))

    truth = right(train)
    found = [printed("Adult: right classes, trained on the truth", truth)]
    for method, goal in (("adaptive", 0.02), ("tree", None)):
        tables = [cells_of(ours(train, sizes, 1.0, seed, method=method)[0], sizes) for seed in range(3)]
        lost = truth - float(np.mean([right(table) for table in tables]))
        words = f"Adult: right classes lost, trained on the table of {method} at epsilon 1"
        found.append(printed(words, lost) if goal is None else at_most(words, lost, goal))
    return found


def intervals() -> list[Row]:
    """How many intervals of 200 queries and more hold."""
    found = []
    for method in ("tree", "adaptive"):
        held: dict[str, list[bool]] = {"measured": [], "bounded": [], "inferred": []}
        for seed in range(24):
            rng = np.random.default_rng(seed)
            rows, sizes = network(400 + seed, 2)
            plain, _ = ours(rows, sizes, 1.0, seed, method=method)
            checked, _ = ours(rows, sizes, 1.0, seed, method=method, distances=0.15)
            for _ in range(20):
                axes = tuple(sorted(rng.choice(len(sizes), rng.integers(1, 4), replace=False).tolist()))
                some = [rng.permutation(sizes[axis])[: max(1, sizes[axis] // 2)] for axis in axes]
                exact = np.all([np.isin(rows[:, axis], own) for axis, own in zip(axes, some, strict=True)], axis=0)
                words = [f"c{axis} in ({', '.join(map(str, own))})" for axis, own in zip(axes, some, strict=True)]
                for table in (plain, checked):
                    said = table.count(" and ".join(words))
                    kind = said.name.rsplit("(", 1)[1].rstrip(")")
                    held[kind].append(abs(said.value - float(exact.sum())) <= (said.half_width or 0.0))
        shares = {kind: float(np.mean(own)) for kind, own in held.items()}
        claims = {kind: f"{method}: of {len(own)} {kind} intervals held" for kind, own in held.items()}
        right = 0.93 <= shares["measured"] <= 0.97
        found += [
            Row(claims["measured"], round(shares["measured"], 4), ".93 to .97", right),
            at_least(claims["bounded"], shares["bounded"], 0.93),
            printed(claims["inferred"], shares["inferred"]),
        ]
    return found


def numbers() -> list[Row]:
    """How far one column of Adult is off, most of whose values are 0."""
    names, texts = adult()
    values = texts[:, names.index("capital-gain")].astype(float)
    data = PrivateData.of({"gain": values}, Schema({"gain": Number(0, 100_000, step=1)}), Budget(1.0, DELTA))
    made = synthesize(data, epsilon=1.0, delta=DELTA, random_state=0)["gain"]
    points = np.concatenate([[0.0], np.quantile(values[values > 0], np.linspace(0, 1, 21))])
    off = max(abs(np.mean(values <= point) - np.mean(made <= point)) for point in points)
    few = plan({f"c{place}": list("abcdef") for place in range(30)}, "synthesize", n=200, epsilon=1.0, delta=1e-6)
    return [
        at_most("capital-gain, epsilon 1: greatest error of the distribution function", float(off), 0.01),
        at_least(
            "200 records of 30 columns: distance of pairs that the plan foretells", few.expectations[1].error, 0.2
        ),
    ]


def rows() -> list[Row]:
    """All of them."""
    if not ADULT.exists():
        return [missing(f"Adult ({ADULT} is not there)")]
    found = [
        row for name, (own, sizes) in tables().items() for eps in EPSILONS for row in compared(name, own, sizes, eps)
    ]
    return [*found, *aim(), *learned(), *intervals(), *numbers()]


if __name__ == "__main__":
    sys.exit(next_piece())
