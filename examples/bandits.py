"""Regret of private bandits: how much the best arm would have paid more, with and without local privacy.

Ten arms pay 0 or 1. Each user's own device replaces the reward by a bit or adds noise to it, at epsilon 1, before an
agent hears of it. Written to bandits.svg: the mean of all runs in a band that holds four of five, beside the slope that
no agent behind local privacy can stay under in the long run.
"""

from __future__ import annotations

from pathlib import Path

from matplotlib.figure import Figure

from discreet import Budget
from discreet.sequential import (
    KLUCB,
    UCB1,
    BernoulliArms,
    BernoulliCurator,
    LaplaceCurator,
    LaplaceUCB,
    ThompsonSampling,
    local_lower_bound,
    plot_lower_bound,
    simulate,
)

ARMS = BernoulliArms([0.9, 0.8, 0.8, 0.7, 0.7, 0.7, 0.5, 0.5, 0.5, 0.5])
EPSILON, RUNS = 1.0, 32


def main(to: Path | None = None, rounds: int = 2000) -> dict[str, float]:
    """The mean regret of each agent, drawn to a file where one is given."""
    bit, budget = BernoulliCurator(EPSILON), Budget(EPSILON)
    pairs = {
        "LDP-UCB-L": (LaplaceUCB(10, epsilon=EPSILON, runs=RUNS), LaplaceCurator(EPSILON).open(budget)),
        "LDP-UCB-B": (UCB1(10, runs=RUNS), bit.open(budget)),
        "KL-UCB on bits": (KLUCB(10, runs=RUNS), bit.open(budget)),
        "Thompson sampling on bits": (ThompsonSampling(10, runs=RUNS), bit.open(budget)),
        "Thompson sampling, not private": (ThompsonSampling(10, runs=RUNS), None),
    }
    figure, found = Figure(layout="constrained"), {}
    ax = figure.add_subplot()
    for name, (agent, curator) in pairs.items():
        regret = simulate(agent, ARMS, rounds, curator)
        regret.plot(ax)
        ax.lines[-1].set_label(name)
        found[name] = regret.mean
        print(f"{name:32}{regret.mean:6.0f}, standard error {regret.standard_error:.0f}")
    plot_lower_bound(local_lower_bound(ARMS.gaps, EPSILON), rounds, ax)
    ax.legend()
    if to is not None:
        figure.savefig(to)
    return found


if __name__ == "__main__":
    main(Path("bandits.svg"), rounds=20_000)
