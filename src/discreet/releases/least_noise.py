"""Which noise a sum is released with: the least that the budget pays for."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from dataclasses import dataclass
from functools import cache, lru_cache
from operator import attrgetter
from typing import Any

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.events import Event
from discreet.core.mechanism import NoiseContext
from discreet.mechanisms import additive, vectors
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.questions.question import BoundedQuestion, BoundedSum
from discreet.releases.spread import Spread, spread
from discreet.trust.private_data import PrivateData


@cache
def noises() -> tuple[Any, ...]:
    """All mechanisms that say where they suit, in the rooms of those that add noise."""
    names = [
        module.name
        for room in (additive, vectors)
        for module in pkgutil.iter_modules(room.__path__, f"{room.__name__}.")
    ]
    classes = [kind for name in names for kind in vars(importlib.import_module(name)).values() if inspect.isclass(kind)]
    found = {kind for kind in classes if hasattr(kind, "suits") and not inspect.isabstract(kind)}
    return tuple(sorted(found, key=lambda kind: str(kind.__name__)))


@cache
def templates(tossed: bool) -> tuple[Any, ...]:
    """One of each that is made of coins, or is not, as it is by default; without those that suit nowhere."""
    found = [kind for kind in noises() if kind.suits.__func__ is not vars(Additive)["suits"].__func__]
    return tuple(kind() for kind in found if getattr(kind, "tossed", False) is tossed)


def least_noise(data: PrivateData, question: BoundedQuestion, budget: Budget, times: int = 1) -> Spread:
    """The noise that moves each coordinate least, for `times` such releases within the budget.

    Of all mechanisms that suit the question, those whose promise the trust model can keep. On whole numbers, discrete
    Laplace noise has a lesser variance than rounded Laplace noise, by more than half at epsilon 3.
    """
    asked = NoiseContext(
        question.size,
        question.grid.exponent == 0 and not data.unit.pooled,
        budget.delta,
        pure(data, budget),
        data.local,
    )
    if data.coins:
        data.check_counted(question)
    fitting = _fitting(asked, data.coins, budget, times)
    if len(fitting) == 1:  # the trust model says whether it keeps the promise, when it is asked for a permit
        return spread(data, question, fitting[0])
    kept = [noise for noise in fitting if data.keeps(noise.event)]
    return min([spread(data, question, noise) for noise in kept or fitting], key=attrgetter("stddev"))


@lru_cache(maxsize=256, typed=True)
def _fitting(asked: NoiseContext, tossed: bool, budget: Budget, times: int) -> tuple[Any, ...]:
    """Every noise that suits the question, as little of it as the budget pays for."""
    return tuple([calibrate(noise, budget, times) for noise in templates(tossed) if noise.suits(asked)])


def pure(data: PrivateData, budget: Budget) -> bool:
    """Whether nothing but epsilon is paid, now and ever: then all that a release costs is its pure loss."""
    return budget.delta == 0 and data.ledger.budget.delta == 0


@dataclass(frozen=True)
class SumPlan:
    """A question, and the noise on its answer.

    Parameters
    ----------
    question : BoundedSum
        Public. What is asked.
    spread : Spread
        Public. The noise, and how far it throws each number.
    """

    question: BoundedSum
    spread: Spread

    @property
    def event(self) -> Event:
        return self.spread.noise.event


def planned(data: PrivateData, budget: Budget, *questions: BoundedSum) -> SumPlan:
    """The question whose numbers get the least noise, of several that ask for the same numbers in different norms.

    A record whose numbers are few and many of them zero is short in l1, and Laplace noise suits it where no delta is
    paid; Gaussian noise, and noise on spheres, suit a bound in l2.
    """
    plans = [SumPlan(question, least_noise(data, question, budget)) for question in questions]
    return min(plans, key=lambda plan: plan.spread.stddev)
