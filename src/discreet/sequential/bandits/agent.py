"""What agents share: counts of pulls, sums of responses, and the rule that the largest index is pulled."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.checks import check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.core.inherited_docs import inherit_docs
from discreet.core.parameters import CheckedParameters
from discreet.sequential.counters.counter import MOST_NUMBERS

Arms = NDArray[np.int64]


@unheld("releases")
class Agent(CheckedParameters, ABC):
    """Choose arms by what was answered: `predict`, then `partial_fit` with the response to the reward.

    An agent sees responses of a curator, never rewards: whatever it does is post-processing. One object can play
    several independent runs at once; then arms and responses are arrays with one entry for each run.

    Parameters
    ----------
    arms : int
        Public. How many arms there are.
    runs : int, optional
        Public. How many independent runs are played at once; without it there is one, and arms and responses are
        scalars.

    Attributes
    ----------
    pulls_ : array of shape (runs, arms)
        How many responses each arm has had.
    totals_ : array of shape (runs, arms)
        Their sums.
    rounds_ : int
        How many rounds were played.
    """

    purpose: ClassVar[str] = "bandit"
    lowest: ClassVar[float] = 0.0
    highest: ClassVar[float] = 1.0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, Agent)

    def __init__(self, arms: int, *, runs: int | None = None) -> None:
        check_whole(self.purpose, "arms", arms)
        check_whole(self.purpose, "runs", 1 if runs is None else runs)
        check_size(self.purpose, int(arms) * int(runs or 1), MOST_NUMBERS)
        self.arms, self.runs = int(arms), None if runs is None else int(runs)
        self.rounds_ = 0
        self._run = np.arange(self.runs or 1)
        self.pulls_: Array = np.zeros((len(self._run), self.arms))
        self.totals_: Array = np.zeros_like(self.pulls_)

    @abstractmethod
    def index(self) -> Array:
        """The index of each arm in each run, of shape (runs, arms), after every arm was pulled."""

    @property
    def last(self) -> Any:
        """Whether the next response ends an episode: always, except where rewards are summed over several pulls."""
        return np.True_

    def predict(self) -> Any:
        """The arm to pull next: an int, or an array with one arm for each run."""
        chosen = self.choose()
        return int(chosen[0]) if self.runs is None else chosen

    def partial_fit(self, arm: ArrayLike, response: ArrayLike) -> Self:
        """Take the response to the reward of an arm.

        Parameters
        ----------
        arm : int or array of shape (runs,)
            The arm that was pulled.
        response : float or array of shape (runs,)
            What the curator gave out.
        """
        arms, responses = np.asarray(arm), np.asarray(response, np.float64)
        shape = () if self.runs is None else (self.runs,)
        if arms.shape != shape or responses.shape != shape or arms.dtype.kind not in "iu":
            obstacle = f"arms of shape {arms.shape} and type {arms.dtype}, responses of shape {responses.shape}"
            raise ParameterError(self.purpose, obstacle, f"Give whole numbers and responses, of shape {shape}.")
        if (arms < 0).any() or (arms >= self.arms).any():
            raise ParameterError(self.purpose, f"arm {arms}", f"Give arms from 0 to {self.arms - 1}.", arm=arms)
        if not self._accepts(responses):
            remedy = f"Give what a curator for this agent gives out, from {self.lowest:g} to {self.highest:g}."
            raise ParameterError(self.purpose, f"response {responses}", remedy)
        self.learn(np.atleast_1d(arms).astype(np.int64), np.atleast_1d(responses))
        return self

    def choose(self) -> Arms:
        """The arm to pull next in each run: each arm once, in order, then that of the largest index."""
        if self.rounds_ < self.arms:
            return np.full(len(self._run), self.rounds_)
        return self.index().argmax(axis=1)

    def learn(self, arms: Arms, responses: Array) -> None:
        self.totals_[self._run, arms] += responses
        self.pulls_[self._run, arms] += 1
        self.rounds_ += 1

    @property
    def means_(self) -> Array:
        """The mean response of each arm, of shape (runs, arms); nan before the first."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.totals_ / self.pulls_)

    def _accepts(self, responses: Array) -> bool:
        finite = bool(np.isfinite(responses).all())
        return finite and bool(((responses >= self.lowest) & (responses <= self.highest)).all())
