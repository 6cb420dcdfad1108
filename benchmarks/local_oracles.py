"""Frequency oracles beside pure-ldp and multi-freq-ldpy, on the same values, in one process.

A run is the whole of it: a report of every person, and the estimates of all values from these. Seconds are of processor
time, the least of several rounds in turns. Peers that need minutes report for fewer people and are scaled, which the
claim says; what they compute for the server beside that, and for all people at once, is not scaled.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks.rows import Row, at_least, at_most, missing, printed
from discreet.core.grid import Array, Steps
from discreet.local.aggregator import Aggregator
from discreet.local.frequency_oracle import KINDS, frequency_oracle
from discreet.local.oracle import Oracle
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.oracles.local_hashing import LocalHashing
from discreet.local.oracles.unary_encoding import OptimizedUnary
from discreet.noise.system_bits import system_bits

PEOPLE, EPSILON, ROUNDS = 100_000, 1.0, 3
PURE, MULTI = "pure-ldp", "multi-freq-ldpy"
Run = Callable[[Steps], Any]


def rows() -> list[Row]:
    """Speed beside both peers, and errors beside the theory."""
    found = [
        *beside("GRR, 128 values", ours(GeneralizedRandomizedResponse(EPSILON, 128)), 128, "grr", 20, people=PEOPLE),
        *beside("OUE, 128 values", ours(OptimizedUnary(EPSILON, 128)), 128, "oue", 20, people=20_000),
        *beside("OLH, 128 values", ours(LocalHashing(EPSILON, 128)), 128, "olh", 30, people=4000),
        *beside("default, 10,000 values", ours(frequency_oracle(10_000, EPSILON).oracle), 10_000, "olh", 1000, 50),
    ]
    return found + [row for kind in KINDS for row in errors(kind)]


def zipf(size: int, people: int, seed: int = 1) -> Steps:
    """Values of which the first are frequent."""
    weights = 1 / np.arange(1.0, size + 1) ** 1.1
    return np.random.default_rng(seed).choice(size, people, p=weights / weights.sum())


def ours(oracle: Oracle) -> Run:
    """A report of each, with secret bits, and the estimate."""

    def run(values: Steps) -> Array:
        reports = Aggregator(oracle)
        reports.add(oracle.reports(values, system_bits()))
        return reports.estimate().shares

    return run


def beside(claim: str, own: Run, size: int, name: str, goal: float, people: int) -> list[Row]:
    """The ratios of the peers' processor seconds for all people to ours."""
    try:
        peers = {PURE: pure_ldp(name, size), MULTI: multi_freq(name, size)}
    except ImportError:
        return [missing(f"{claim}: peers are not installed")]
    values = zipf(size, PEOPLE)
    own(values)
    for run in peers.values():
        run(values[:5])  # compiled before it is timed
    mine = min(seconds(own, values) for _ in range(3 * ROUNDS))
    found = [printed(f"{claim}: seconds for {PEOPLE:,} people", mine)]
    for peer, run in peers.items():
        theirs = min(seconds(run, values[:people]) for _ in range(1 if name == "olh" else ROUNDS)) * PEOPLE / people
        scaled = "" if people == PEOPLE else f", from {people:,} people"
        what = "OLH" if "default" in claim else "the same"
        found.append(at_least(f"{claim}: times as fast as {what} in {peer}{scaled}", theirs / mine, goal))
    return found


def seconds(run: Run, values: Steps) -> float:
    """The processor time of a run."""
    start = time.process_time()
    run(values)
    return time.process_time() - start


def errors(kind: type[Oracle], size: int = 256, runs: int = 8) -> list[Row]:
    """The mean squared error over that of the theory; its own standard error is about 3 %."""
    values = zipf(size, PEOPLE)
    shares = np.bincount(values, minlength=size) / PEOPLE
    found = []
    for epsilon in (EPSILON, 3.0):
        oracle = kind(epsilon, size)
        square = np.mean([np.square(ours(oracle)(values) - shares).mean() for _ in range(runs)])
        ratio = float(square / oracle.variances(shares, PEOPLE).mean())
        claim = f"{kind.__name__}, {size} values, epsilon {epsilon:g}: |squared error / theory - 1|"
        found.append(at_most(claim, abs(ratio - 1), 0.1))
    return found


def pure_ldp(name: str, size: int) -> Run:
    """Of pure-ldp: objects for the client and the server."""
    from pure_ldp.frequency_oracles.direct_encoding import DEClient, DEServer
    from pure_ldp.frequency_oracles.local_hashing import LHClient, LHServer
    from pure_ldp.frequency_oracles.unary_encoding import UEClient, UEServer

    kinds: dict[str, tuple[Any, Any, dict[str, bool]]] = {
        "grr": (DEClient, DEServer, {}),
        "oue": (UEClient, UEServer, {"use_oue": True}),
        "olh": (LHClient, LHServer, {"use_olh": True}),
    }
    of_client, of_server, how = kinds[name]

    def run(values: Steps) -> list[float]:
        how_all = {**how, "index_mapper": lambda value: value}
        client, server = of_client(EPSILON, size, **how_all), of_server(EPSILON, size, **how_all)
        for value in values.tolist():
            server.aggregate(client.privatise(value))
        return [server.estimate(value, suppress_warnings=True) for value in range(size)]

    return run


def multi_freq(name: str, size: int) -> Run:
    """Of multi-freq-ldpy: functions for the client and the server."""
    from multi_freq_ldpy.pure_frequency_oracles.GRR import GRR_Aggregator_MI, GRR_Client
    from multi_freq_ldpy.pure_frequency_oracles.LH import LH_Aggregator_MI, LH_Client
    from multi_freq_ldpy.pure_frequency_oracles.UE import UE_Aggregator_MI, UE_Client

    kinds: dict[str, tuple[Any, Callable[[list[Any]], Any]]] = {
        "grr": (GRR_Client, lambda reports: GRR_Aggregator_MI(reports, size, EPSILON)),
        "oue": (UE_Client, lambda reports: UE_Aggregator_MI(reports, EPSILON)),
        "olh": (LH_Client, lambda reports: LH_Aggregator_MI(reports, size, EPSILON)),
    }
    client, server = kinds[name]

    def run(values: Steps) -> Any:
        return server([client(value, size, EPSILON) for value in values.tolist()])

    return run
