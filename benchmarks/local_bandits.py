"""Regret of private bandits on ten Bernoulli arms, and the time that every agent takes.

    python -m benchmarks.local_bandits

64 runs of 50,000 rounds each. Figures to hold are those of the notes, for the same arms.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from benchmarks.rows import Row, at_most, printed, report
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
from discreet.sequential.bandits.regret import Regret

ARMS = BernoulliArms([0.9, *[0.8] * 2, *[0.7] * 3, *[0.5] * 4])
REVERSED = BernoulliArms(ARMS.means[::-1].tolist())  # for agents that take arms in their order
ROUNDS, RUNS, K = 50_000, 64, ARMS.arms
SECONDS = 60.0  # for all rounds of all runs
CLOSE = 1.15  # times the notes' figure, at most
NOTES = {  # Thompson sampling, KL-UCB, LDP-UCB-B, LDP-UCB-L
    0.5: (1373, 2383, 5447, 8604),
    1.0: (436, 788, 2556, 6305),
    2.0: (157, 279, 1192, 3977),
}
BASELINES = {"Thompson sampling": 71, "KL-UCB": 130, "UCB1": 747}
Play = Callable[[], Regret]


@dataclass(frozen=True)
class Played:
    """What became of an agent."""

    name: str
    regret: Regret
    seconds: float

    @property
    def timed(self) -> Row:
        return at_most(f"{self.name}: CPU seconds for {RUNS} x {ROUNDS} rounds", self.seconds, SECONDS)


def played(name: str, play: Play) -> Played:
    start = time.process_time()
    regret = play()
    return Played(name, regret, time.process_time() - start)


def bits() -> DeterministicBits:
    return DeterministicBits(14)


def local(epsilon: float) -> list[Played]:
    """The four agents behind local privacy, from the least regret to the most."""
    coin = lambda: BernoulliCurator(epsilon, bits=bits())  # noqa: E731
    agents: list[tuple[str, Play]] = [
        ("Thompson", lambda: _on(ThompsonSampling(K, runs=RUNS, random_state=0), coin())),
        ("KL-UCB", lambda: _on(KLUCB(K, runs=RUNS), coin())),
        ("UCB-B", lambda: _on(UCB1(K, runs=RUNS), coin())),
        ("UCB-L", lambda: _on(LaplaceUCB(K, epsilon=epsilon, runs=RUNS), LaplaceCurator(epsilon, bits=bits()))),
    ]
    return [played(f"{name}, local epsilon {epsilon:g}", play) for name, play in agents]


def others() -> Iterator[Played]:
    """Baselines without privacy, and agents under central privacy, which have no figures to hold."""
    yield played("Thompson sampling, not private", lambda: _on(ThompsonSampling(K, runs=RUNS, random_state=0)))
    yield played("KL-UCB, not private", lambda: _on(KLUCB(K, runs=RUNS)))
    yield played("UCB1, not private", lambda: _on(UCB1(K, runs=RUNS)))
    yield played("Gittins, not private", lambda: _on(GittinsIndex(K, discount=0.9999, depth=1000, runs=RUNS)))
    table = np.random.default_rng(0).random((ROUNDS, K)) < np.where(np.arange(ROUNDS)[:, None] % 2, 0.9, 0.1)
    table[:, 0] |= np.random.default_rng(1).random(ROUNDS) < 0.2
    arms = AdversarialArms(table.astype(float))
    yield played(
        "Exp3, not private, adversarial",
        lambda: simulate(Exp3(K, runs=RUNS, random_state=0), arms, ROUNDS, random_state=0),
    )
    for epsilon in (0.5, 1.0, 2.0):
        yield from central(epsilon)


def central(epsilon: float) -> Iterator[Played]:
    tree = RunningSums(K, ROUNDS, epsilon, runs=RUNS, bits=bits())
    sums = lambda: EpisodeSums(epsilon, runs=RUNS, bits=bits())  # noqa: E731
    yield played(
        f"DP-UCB with trees, central epsilon {epsilon:g}",
        lambda: _on(TreeUCB(K, rounds=ROUNDS, epsilon=epsilon, runs=RUNS), tree),
    )
    for alpha in (1.0, 3.1):
        yield played(
            f"lazy KL-UCB, alpha {alpha:g}, central epsilon {epsilon:g}",
            lambda: _on(LazyKLUCB(K, epsilon=epsilon, alpha=alpha, runs=RUNS), sums()),  # noqa: B023
        )
    elimination = SuccessiveElimination(K, epsilon=epsilon, beta=1 / ROUNDS, runs=RUNS)
    yield played(
        f"successive elimination, central epsilon {epsilon:g}",
        lambda: simulate(elimination, REVERSED, ROUNDS, sums(), random_state=0),
    )


def linear() -> Played:
    curator = GramSums(5, ROUNDS, 1.0, runs=RUNS, bits=bits())
    agent = LinearUCB(5, rounds=ROUNDS, stddev=curator.stddev, width=0.1, runs=RUNS)
    arms = LinearArms([0.6, 0.5, 0.4, 0.1, 0.0])
    return played(
        "linear UCB, width 0.1, joint epsilon 1",
        lambda: simulate_linear(agent, arms, ROUNDS, curator, random_state=0),
    )


def _on(agent: object, curator: object = None) -> Regret:
    return simulate(agent, ARMS, ROUNDS, curator, random_state=0)  # type: ignore[arg-type]


def rows() -> list[Row]:
    found: list[Row] = []
    for epsilon, figures in NOTES.items():
        agents = local(epsilon)
        for one, figure in zip(agents, figures, strict=True):
            found += [at_most(f"{one.name}: regret", one.regret.mean, CLOSE * figure), one.timed]
        for less, more in pairwise(agents):
            claim = f"{less.name}: regret as a share of that of {more.name.partition(',')[0]}"
            found.append(at_most(claim, less.regret.mean / more.regret.mean, 1.0))
        slope = local_lower_bound(ARMS.gaps, epsilon)
        found.append(printed(f"lower bound at epsilon {epsilon:g}: times ln T", slope * np.log(ROUNDS)))
    for one in [*others(), linear()]:
        figure = BASELINES.get(one.name.removesuffix(", not private"))
        claim = f"{one.name}: regret"
        found.append(
            printed(claim, one.regret.mean) if figure is None else at_most(claim, one.regret.mean, CLOSE * figure)
        )
        found.append(one.timed)
    return found


if __name__ == "__main__":
    report("local_bandits", rows())
