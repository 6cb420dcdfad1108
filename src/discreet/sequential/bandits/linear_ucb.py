"""Upper confidence bounds for rewards that are linear in a context."""

from __future__ import annotations

import math
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import check_positive, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.core.parameters import CheckedParameters
from discreet.sequential.counters.counter import MOST_NUMBERS
from discreet.sequential.reading import contexts_of


@unheld("releases")
class LinearUCB(CheckedParameters):
    """Choose by contexts: the arm with the largest theta'x + beta_t |x|, |x| being measured by the noisy Gram matrix.

    The curator, `GramSums`, gives out sums with symmetric noise whose eigenvalues are between -u and u in all rounds,
    with probability 1 - level / 2. Twice u is added to the diagonal, so that the Gram matrix H is regularised by
    something between alpha + u and alpha + 3 u, and

        beta_t = sqrt(2 ln(4 / level) + d ln(high / low + t / (d low))) / 2 + norm sqrt(high) + |h| / sqrt(low)

    with h the noise of the products with rewards, low = alpha + u and high = alpha + 3 u. Then theta'x is inside its
    bounds in all rounds with probability 1 - level: the error of theta is that of the rewards, which the first term
    bounds (Abbasi-Yadkori, Pal and Szepesvari 2011), that of the penalty and that of the noise h. Shariff and Sheffet
    2018, with Gaussian noise and a shifted regulariser.

    Parameters
    ----------
    dimension : int
        Public. Of contexts, whose length is at most 1.
    rounds : int
        Public. How many rounds are played at most: as many as the curator has.
    stddev : float
        Public. `curator.stddev`.
    norm : float
        Public. The length of theta, at most.
    alpha : float
        Public. The penalty of ridge regression.
    level : float
        Public. The probability that a bound does not hold.
    width : float
        Public. Times beta_t; less explores less than the theorem asks for.
    runs : int, optional
        Public. How many independent runs are played at once; without it there is one, and arms and responses are
        scalars.

    Examples
    --------
    >>> agent = LinearUCB(dimension=2, rounds=100, stddev=1.0)
    >>> agent.predict([[0.1, 0.0], [1.0, 0.0]])
    1
    """

    purpose: ClassVar[str] = "linear UCB"

    def __init__(
        self,
        dimension: int,
        *,
        rounds: int,
        stddev: float,
        norm: float = 1.0,
        alpha: float = 1.0,
        level: float = 0.05,
        width: float = 1.0,
        runs: int | None = None,
    ) -> None:
        check_whole(self.purpose, "dimension", dimension)
        check_whole(self.purpose, "rounds", rounds, most=2**30)
        check_whole(self.purpose, "runs", 1 if runs is None else runs)
        check_size(self.purpose, int(runs or 1) * (int(dimension) + 1) ** 2, MOST_NUMBERS)
        for name, value in (("stddev", stddev), ("norm", norm), ("alpha", alpha), ("level", level), ("width", width)):
            check_positive(self.purpose, name, value, most=1.0 if name == "level" else 2.0**40)
        self.dimension, self.runs, self.rounds_ = int(dimension), None if runs is None else int(runs), 0
        self.norm, self.level, self.width = float(norm), float(level), float(width)
        far = math.sqrt(2 * math.log(8 * int(rounds) / self.level))
        self.shift = stddev * (math.sqrt(2 * self.dimension) + far)
        self.low, self.high = alpha + self.shift, alpha + 3 * self.shift
        self._moment_noise = stddev * (math.sqrt(self.dimension) + far) / math.sqrt(2)
        self.penalty = alpha + 2 * self.shift
        self._set(np.zeros((self.runs or 1, self.dimension + 1, self.dimension + 1)))

    @property
    def beta(self) -> float:
        """The width of the confidence bounds, in the norm of the Gram matrix."""
        grown = self.high / self.low + self.rounds_ / (self.dimension * self.low)
        sampling = math.sqrt(2 * math.log(4 / self.level) + self.dimension * math.log(grown)) / 2
        return self.width * (sampling + self.norm * math.sqrt(self.high) + self._moment_noise / math.sqrt(self.low))

    def predict(self, contexts: ArrayLike) -> Any:
        """The arm to pull next, for one user of each run: computed from the user's own contexts.

        Parameters
        ----------
        contexts : array of shape (arms, dimension) or (runs, arms, dimension)
            One context for each arm.
        """
        given = contexts_of(contexts, self.runs, self.dimension)
        rows = given[None] if self.runs is None else given
        if rows.ndim != 3 or len(rows) != (self.runs or 1) or rows.shape[2] != self.dimension or not rows.shape[1]:
            raise ParameterError(self.purpose, f"contexts of shape {given.shape}", "Give one for each arm.")
        lengths = np.sqrt(np.maximum(((rows @ self._inverse) * rows).sum(axis=-1), 0.0))
        chosen = ((rows @ self.theta_[:, :, None])[..., 0] + self.beta * lengths).argmax(axis=1)
        return int(chosen[0]) if self.runs is None else chosen

    def partial_fit(self, response: ArrayLike) -> Self:
        """Take the sums of products that the curator gave out."""
        given = np.asarray(response, np.float64)
        sums = given[None] if self.runs is None else given
        if sums.shape != (self.runs or 1, self.dimension + 1, self.dimension + 1) or not np.isfinite(sums).all():
            raise ParameterError(self.purpose, f"a response of shape {given.shape}", "Give what `GramSums` gave out.")
        self._set(sums)
        self.rounds_ += 1
        return self

    def _set(self, sums: Array) -> None:
        gram = sums[:, :-1, :-1] + self.penalty * np.eye(self.dimension)
        self._inverse: Array = np.asarray(np.linalg.inv(gram), np.float64)
        self.theta_: Array = (self._inverse @ sums[:, :-1, -1:])[..., 0]
