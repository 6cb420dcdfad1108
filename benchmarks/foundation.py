"""Noise, accounting and the ledger beside OpenDP, diffprivlib and dp_accounting."""

from __future__ import annotations

import math
import multiprocessing
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import dp_accounting
import numpy as np
from dp_accounting import pld
from tests.ledger.ledger_soak import charge_until_refused, soak

from benchmarks.foundation_corners import corners
from benchmarks.foundation_filters import filters
from benchmarks.rows import Row, at_least, at_most, cpu_seconds, report
from discreet.accounting import calibration as calibration_module
from discreet.accounting.accountant import epsilon
from discreet.accounting.calibration import calibrate
from discreet.accounting.loss_distribution import epsilon_above
from discreet.accounting.pairs.directions import directions
from discreet.core.budget import Budget
from discreet.core.events import Event, GaussianLoss, Repeated, Sampled
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.gaussian import discrete_gaussian, rounded_gaussian
from discreet.noise.laplace import discrete_laplace, rounded_laplace
from discreet.noise.system_bits import system_bits

MILLION = 1_000_000
SCALE = 1.3 * 2**30


def noise() -> Iterator[Row]:
    """Exact samplers against numpy's, which are fast and leak."""
    bits, rng = system_bits(), np.random.default_rng()
    samplers: dict[str, Callable[[], Any]] = {
        "rounded Laplace": lambda: rounded_laplace(bits, MILLION, SCALE),
        "discrete Laplace": lambda: discrete_laplace(bits, MILLION, SCALE),
        "rounded Gaussian": lambda: rounded_gaussian(bits, MILLION, SCALE),
        "discrete Gaussian": lambda: discrete_gaussian(bits, MILLION, SCALE),
    }
    laplace, normal, *ours = cpu_seconds(
        lambda: rng.laplace(size=MILLION), lambda: rng.normal(size=MILLION), *samplers.values()
    )
    for (name, sampler), seconds in zip(samplers.items(), ours, strict=True):
        peer, goal = (laplace, 1.0) if "Laplace" in name else (normal, 0.7)
        yield at_least(f"{name}, speed against numpy, 1e6 draws", peer / seconds, goal)
        yield at_most(f"{name}, peak memory in outputs", _peak(sampler) / (8 * MILLION), 3.0)
    yield from _slow_peers(ours[0] / MILLION)


def _peak(job: Callable[[], Any]) -> float:
    job()
    tracemalloc.start()
    job()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def _slow_peers(ours: float) -> Iterator[Row]:
    import opendp.prelude as dp  # only this part needs them
    from diffprivlib.mechanisms import Laplace as DiffprivlibLaplace

    dp.enable_features("contrib")
    few = 4000
    vector = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.l1_distance(T=float)
    opendp = dp.m.make_laplace(*vector, scale=1.0)
    loop = DiffprivlibLaplace(epsilon=1.0, sensitivity=1.0)
    seconds = cpu_seconds(lambda: opendp([0.0] * few), lambda: [loop.randomise(0.0) for _ in range(few)], rounds=3)
    for name, peer, goal in zip(("OpenDP's float Laplace", "a diffprivlib loop"), seconds, (500, 300), strict=True):
        yield at_least(f"rounded Laplace, speed against {name}", peer / few / ours, goal)


A = Repeated(Sampled(GaussianLoss(1.1), 256 / 60000), 14000)
B = Repeated(Sampled(GaussianLoss(0.8), 0.001), 100_000)
C = Repeated(GaussianLoss(20.0), 1000)
REFERENCES: dict[str, tuple[Event, float, float]] = {
    "A": (A, 1e-5, 2.375838),
    "B": (B, 1e-6, 2.914478),
    "C": (C, 1e-6, 8.30622504995473),
}
UNCERTAIN = {"A": 1e-6, "B": 2e-6, "C": 0.0}  # of the references themselves


def composed_epsilon(event: Event, delta: float) -> float:
    """Epsilon by loss distributions, finely, where the accountant would take a closed form."""
    return epsilon_above(directions(event), delta, 1e-6)


def accuracy() -> Iterator[Row]:
    """Certified upper bounds against references that two independent programs agree on."""
    for name, (event, delta, reference) in REFERENCES.items():
        ways = {"": epsilon} if name != "C" else {"": epsilon, ", by loss distribution": composed_epsilon}
        for way, function in ways.items():
            excess = function(event, delta) / reference - 1
            yield at_most(f"epsilon of {name}{way}, relative excess", excess, 5e-4)
            shown = f"epsilon of {name}{way}, never below the reference"
            yield at_least(shown, function(event, delta), reference - UNCERTAIN[name])
    for delta, reference in ((1e-15, 13.449328831551), (1e-30, 19.08524694734)):
        for way, function in {"": epsilon, ", by loss distribution": composed_epsilon}.items():
            error = abs(function(C, delta) - reference)
            yield at_most(f"epsilon of C at delta {delta:g}{way}, error", error, 1e-4)


def _dp_accounting(event: Any) -> Any:
    return pld.PLDAccountant(value_discretization_interval=1e-4).compose(event)


PEER_EVENTS = {
    "A": dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(256 / 60000, dp_accounting.GaussianDpEvent(1.1)), 14000
    ),
    "B": dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(0.001, dp_accounting.GaussianDpEvent(0.8)), 100_000
    ),
    "C": dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(20.0), 1000),
}


def speed() -> Iterator[Row]:
    """Against dp_accounting's loss distributions with its own step of 1e-4, at its accuracy or better."""
    for name, (event, delta, reference) in REFERENCES.items():

        def theirs(name: str = name, delta: float = delta) -> float:
            return float(_dp_accounting(PEER_EVENTS[name]).get_epsilon(delta))

        excess = theirs() / reference - 1

        def ours(event: Event = event, delta: float = delta, accuracy: float = max(0.8 * excess, 1e-7)) -> float:
            return epsilon(event, delta, accuracy=accuracy)

        mine, other = cpu_seconds(ours, theirs, rounds=5)
        note = f"excess {ours() / reference - 1:.1e}, theirs {excess:.1e}"
        yield at_least(f"epsilon of {name}, speed against dp_accounting ({note})", other / mine, 3.0)


def calibration() -> Iterator[Row]:
    """The least noise for a budget, against dp_accounting's search with its loss distributions."""
    cases: dict[str, tuple[Budget, int, SecretSample | None, Callable[[float], Any], tuple[float, float]]] = {
        "A": (Budget(3.0, 1e-5), 14000, SecretSample(256 / 60000), _sampled(256 / 60000, 14000), (0.3, 3.0)),
        "B": (Budget(3.0, 1e-6), 100_000, SecretSample(0.001), _sampled(0.001, 100_000), (0.3, 3.0)),
        "C": (
            Budget(1.0, 1e-6),
            1000,
            None,
            lambda sigma: dp_accounting.SelfComposedDpEvent(dp_accounting.GaussianDpEvent(sigma), 1000),
            (50.0, 300.0),
        ),
    }
    for name, (budget, times, sampling, make, bracket) in cases.items():

        def ours(budget: Budget = budget, times: int = times, sampling: SecretSample | None = sampling) -> float:
            calibration_module._found.cache_clear()  # every round searches anew
            return calibrate(Gaussian(), budget, times, sampling).multiplier

        def theirs(budget: Budget = budget, make: Any = make, bracket: tuple[float, float] = bracket) -> float:
            return float(
                dp_accounting.calibrate_dp_mechanism(
                    pld.PLDAccountant,
                    make,
                    budget.epsilon,
                    budget.delta,
                    dp_accounting.ExplicitBracketInterval(*bracket),
                    tol=1e-6,
                )
            )

        mine, _ = cpu_seconds(ours, int, rounds=3)
        start = time.process_time()
        other = theirs()
        seconds = time.process_time() - start
        note = f"ours {ours():.7g}, theirs {other:.7g}"
        yield at_least(f"calibration of {name}, speed against dp_accounting ({note})", seconds / mine, 5.0)


def _sampled(rate: float, times: int) -> Callable[[float], Any]:
    return lambda sigma: dp_accounting.SelfComposedDpEvent(
        dp_accounting.PoissonSampledDpEvent(rate, dp_accounting.GaussianDpEvent(sigma)), times
    )


def newcomer() -> Iterator[Row]:
    """What somebody meets first: the import and the first command."""
    code = "import time; start = time.perf_counter(); import discreet; print(time.perf_counter() - start)"
    seconds = [float(subprocess.check_output([sys.executable, "-c", code])) for _ in range(5)]
    yield at_most("import discreet, seconds", sorted(seconds)[2], 0.5)
    with tempfile.TemporaryDirectory() as folder:
        clone = Path(folder) / "clone"
        subprocess.run(["git", "clone", "--quiet", ".", str(clone)], check=True)
        start = time.perf_counter()
        done = subprocess.run(["make", "start"], cwd=clone, capture_output=True, text=True, check=False)
        seconds_all = time.perf_counter() - start
        made = done.returncode == 0 and (clone / "build/report.html").is_file()
        shutil.rmtree(clone)
    yield at_most("make start in a fresh clone, seconds (inf: it failed)", seconds_all if made else math.inf, 120.0)


def ledger() -> Iterator[Row]:
    """Eight processes on one budget, and workers killed at random points, with the workers of the test suite."""
    with tempfile.TemporaryDirectory() as folder:
        path, room = str(Path(folder) / "race.ledger"), 400
        SqliteLedger.create(path, Budget(room * 2.0**-10), name="race", neighbors=Neighbors.ADD_REMOVE).close()
        context = multiprocessing.get_context("spawn")
        start, told = context.Barrier(8), context.Queue()
        writers = [context.Process(target=charge_until_refused, args=(path, 2.0**-10, start, told)) for _ in range(8)]
        for writer in writers:
            writer.start()
        tallies = [told.get() for _ in writers]
        for writer in writers:
            writer.join()
    accepted = sum(tally.accepted for tally in tallies)
    slowest = float(np.quantile([second for tally in tallies for second in tally.seconds], 0.99))
    yield Row(f"8 processes charging a budget with room for {room}: accepted", accepted, f"== {room}", accepted == room)
    yield at_most("the same: 99th percentile of a release, seconds", slowest, 1.0)
    yield _kills()


def _kills() -> Row:
    rounds = 67  # of three kills each
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "soak.ledger")
        SqliteLedger.create(path, Budget(1e6), name="soak", neighbors=Neighbors.ADD_REMOVE).close()
        try:
            soak(path, str(Path(folder) / "notes"), rounds, seed=int(time.time()))
            found = "0 lost, 0 twice"
        except AssertionError as why:
            found = f"fault: {why}"
    return Row(f"{3 * rounds} kills at random points", found, "0 lost, 0 twice", found == "0 lost, 0 twice")


PARTS = {part.__name__: part for part in (noise, accuracy, corners, speed, calibration, filters, ledger, newcomer)}


def main() -> None:
    """All parts, or those that are named on the command line."""
    rows: list[Row] = []
    for name in sys.argv[1:] or PARTS:
        print(f"... {name}", file=sys.stderr, flush=True)
        rows += PARTS[name]()
    report("foundation", rows)


if __name__ == "__main__":
    main()
