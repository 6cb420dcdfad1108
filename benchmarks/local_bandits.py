"""Regret of private bandits on ten Bernoulli arms, and the time that every agent takes.

    python -m benchmarks.local_bandits

64 runs of 50,000 rounds each. The figures to hold were measured on the same arms before the library had bandits.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.rows import Row, at_most, printed, report
from discreet import Budget
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential import (
    KLUCB,
    UCB1,
    AdversarialArms,
    BernoulliArms,
    BernoulliCurator,
    EpisodeSums,
    Exp3,
    GittinsIndex,
    GramSums,
    LaplaceCurator,
    LaplaceUCB,
    LazyKLUCB,
    LinearArms,
    LinearUCB,
    RunningSums,
    SuccessiveElimination,
    ThompsonSampling,
    TreeUCB,
    local_lower_bound,
    simulate,
    simulate_linear,
)
from discreet.sequential.bandits.agent import Agent
from discreet.sequential.bandits.curator import OpenCurator, RewardCurator
from discreet.sequential.bandits.simulators.environments import Environment
from discreet.sequential.bandits.simulators.regret import Regret

ARMS = BernoulliArms([0.9, *[0.8] * 2, *[0.7] * 3, *[0.5] * 4])
REVERSED = BernoulliArms(ARMS.means[::-1].tolist())  # for an agent that takes arms in their order
ROUNDS, RUNS, K = 50_000, 64, ARMS.arms
BUDGET = Budget(2.0, 1e-6)
SECONDS = 60.0  # for all rounds of all runs
CLOSE = 1.15  # times the figure to hold, at most
FIGURES = {  # Thompson sampling, KL-UCB, LDP-UCB-B, LDP-UCB-L
    0.5: (1373, 2383, 5447, 8604),
    1.0: (436, 788, 2556, 6305),
    2.0: (157, 279, 1192, 3977),
}
BASELINES = {"Thompson sampling": 71, "KL-UCB": 130, "UCB1": 747}


@dataclass(frozen=True)
class Played:
    """What became of an agent."""

    name: str
    regret: Regret
    seconds: float

    @property
    def timed(self) -> Row:
        return at_most(f"{self.name}: CPU seconds for {RUNS} x {ROUNDS} rounds", self.seconds, SECONDS)


def played(name: str, agent: Agent, curator: RewardCurator | None = None, environment: Environment = ARMS) -> Played:
    start = time.process_time()
    between: OpenCurator[RewardCurator] | None = None if curator is None else curator.open(BUDGET, bits=bits())
    regret = simulate(agent, environment, ROUNDS, between, random_state=0)
    return Played(name, regret, time.process_time() - start)


def bits() -> DeterministicBits:
    return DeterministicBits(14)


def local(epsilon: float) -> list[Played]:
    """The four agents behind local privacy, from the least regret to the most."""
    agents: list[tuple[str, Agent, RewardCurator]] = [
        ("Thompson", ThompsonSampling(K, runs=RUNS, random_state=0), BernoulliCurator(epsilon)),
        ("KL-UCB", KLUCB(K, runs=RUNS), BernoulliCurator(epsilon)),
        ("UCB-B", UCB1(K, runs=RUNS), BernoulliCurator(epsilon)),
        ("UCB-L", LaplaceUCB(K, epsilon=epsilon, runs=RUNS), LaplaceCurator(epsilon)),
    ]
    return [played(f"{name}, local epsilon {epsilon:g}", agent, curator) for name, agent, curator in agents]


def baselines() -> Iterator[Played]:
    """Without privacy."""
    yield played("Thompson sampling, not private", ThompsonSampling(K, runs=RUNS, random_state=0))
    yield played("KL-UCB, not private", KLUCB(K, runs=RUNS))
    yield played("UCB1, not private", UCB1(K, runs=RUNS))
    yield played("Gittins, not private", GittinsIndex(K, discount=0.9999, depth=1000, runs=RUNS))
    table = np.random.default_rng(0).random((ROUNDS, K)) < np.where(np.arange(ROUNDS)[:, None] % 2, 0.9, 0.1)
    table[:, 0] |= np.random.default_rng(1).random(ROUNDS) < 0.2
    arms = AdversarialArms(table.astype(float))
    yield played("Exp3, not private, adversarial", Exp3(K, runs=RUNS, random_state=0), None, arms)


def central(epsilon: float) -> Iterator[Played]:
    where = f"central epsilon {epsilon:g}"
    tree = RunningSums(K, ROUNDS, epsilon, runs=RUNS)
    yield played(f"DP-UCB with trees, {where}", TreeUCB(K, rounds=ROUNDS, epsilon=epsilon, runs=RUNS), tree)
    for alpha in (0.5, 3.1):
        agent = LazyKLUCB(K, epsilon=epsilon, alpha=alpha, runs=RUNS)
        yield played(f"lazy KL-UCB, alpha {alpha:g}, {where}", agent, EpisodeSums(epsilon, runs=RUNS))
    elimination = SuccessiveElimination(K, epsilon=epsilon, beta=1 / ROUNDS, runs=RUNS)
    sums = EpisodeSums(epsilon, runs=RUNS)
    yield played(f"successive elimination, {where}", elimination, sums, REVERSED)


def linear() -> Played:
    curator = GramSums(5, ROUNDS, 1.0, runs=RUNS)
    agent = LinearUCB(5, rounds=ROUNDS, stddev=curator.stddev, width=0.1, runs=RUNS)
    start, arms = time.process_time(), LinearArms([0.6, 0.5, 0.4, 0.1, 0.0])
    regret = simulate_linear(agent, arms, ROUNDS, curator.open(BUDGET, bits=bits()), random_state=0)
    return Played("linear UCB, width 0.1, joint epsilon 1", regret, time.process_time() - start)


def local_rows(epsilon: float) -> Iterator[Row]:
    agents = local(epsilon)
    for one, figure in zip(agents, FIGURES[epsilon], strict=True):
        yield at_most(f"{one.name}: regret", one.regret.mean, CLOSE * figure)
        yield one.timed
    for less, more in pairwise(agents):
        claim = f"{less.name}: regret as a share of that of {more.name.partition(',')[0]}"
        yield at_most(claim, less.regret.mean / more.regret.mean, 1.0)
    bound = local_lower_bound(ARMS.gaps, epsilon) * float(np.log(ROUNDS))
    yield printed(f"lower bound of regret, asymptotic, local epsilon {epsilon:g}", bound)


def rows() -> list[Row]:
    found = [row for epsilon in FIGURES for row in local_rows(epsilon)]
    for one in [*baselines(), *(one for epsilon in FIGURES for one in central(epsilon)), linear()]:
        claim, known = f"{one.name}: regret", one.name.removesuffix(", not private")
        if known in BASELINES:
            found.append(at_most(claim, one.regret.mean, CLOSE * BASELINES[known]))
        else:
            found.append(printed(claim, one.regret.mean))
        found.append(one.timed)
    return found


if __name__ == "__main__":
    report("local_bandits", rows())
