"""The figure of the page about composition: what equal questions cost together."""

from __future__ import annotations

from collections.abc import Callable

from matplotlib.figure import Figure

from discreet import Budget
from discreet.accounting import epsilon
from discreet.accounting.closed_forms import gaussian_multiplier
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, Repeated
from discreet.ledger.memory_ledger import MemoryLedger

DELTA = 1e-6
QUESTIONS = {
    "Laplace noise, 0.05 each": LaplaceLoss(20.0),
    "Gaussian noise, 0.05 each": GaussianLoss(gaussian_multiplier(0.05, DELTA)),
}
MOST = 200


def certified(question: Event, budget: Budget) -> list[float]:
    """What an account certifies after each of many equal questions, until it refuses one."""
    account, found = MemoryLedger(budget), [0.0]
    while len(found) <= MOST and account.affords(question):
        account.reserve(question, "a question", request="q")
        found.append(account.balance().certified)
    return found


def composition() -> Figure:
    """The plain sum of epsilons, what an account certifies, and the tight price of all questions as one plan."""
    drawn = Figure(figsize=(9, 3.4), layout="constrained")
    for ax, (title, question) in zip(drawn.subplots(1, 2), QUESTIONS.items(), strict=True):
        alone = epsilon(question, DELTA)
        found = certified(question, Budget(3.0, DELTA))
        counts = range(1, len(found), 5)
        ax.plot([0, 3 / alone], [0, 3], color="#bbbbbb", linestyle="--", label="asked: the plain sum")
        ax.plot(found, color="#4c9f95", label="certified by the account")
        tight = [epsilon(Repeated(question, count), DELTA) for count in counts]
        ax.plot(counts, tight, color="#222222", linewidth=0.8, label="one plan, tight price")
        ax.set(title=title, xlabel="questions", ylabel="epsilon at delta 1e-6", ylim=(0, 3.1))
        ax.legend(frameon=False)
    return drawn


FIGURES: dict[str, Callable[[], Figure]] = {"composition.svg": composition}
