"""What outputs on two neighboring data sets prove about epsilon and mu, whatever the mechanism claims."""

from __future__ import annotations

from dataclasses import dataclass, field

from numpy.typing import ArrayLike

from discreet.audit.evidence import witnesses
from discreet.audit.witness import Witness
from discreet.display.notebook import carded, grid

CONFIDENCE = 1 - 1e-6


@dataclass(frozen=True)
class LowerBound:
    """What a mechanism has been shown to lose.

    Parameters
    ----------
    delta : float
        The delta that `epsilon` goes with.
    confidence : float
        The probability, at least, that every number here is right, whatever the mechanism is.
    witnesses : tuple of Witness
        The events that were counted.
    """

    delta: float
    confidence: float
    witnesses: tuple[Witness, ...] = field(repr=False)

    @property
    def epsilon(self) -> float:
        """No (epsilon, delta) with a smaller epsilon is true."""
        return self.epsilon_at(self.delta)

    def epsilon_at(self, delta: float) -> float:
        """The same at another delta, at no further risk; events chosen for that delta may show more."""
        return max(witness.epsilon(delta) for witness in self.witnesses)

    @property
    def mu(self) -> float:
        """The mechanism is not Gaussian-private with a smaller mu."""
        return max(witness.mu for witness in self.witnesses)

    @property
    def witness(self) -> Witness:
        """The event that shows `epsilon`."""
        return max(self.witnesses, key=lambda witness: witness.epsilon(self.delta))

    def __str__(self) -> str:
        return (
            f"epsilon >= {self.epsilon:.4g} at delta {self.delta:.3g} and mu >= {self.mu:.4g},"
            f" with confidence {self.confidence:.10g}.\n{self.witness}"
        )

    def _repr_html_(self) -> str:
        head = ("event", "likelier on the", "seen there", "on the other", "epsilon at least", "mu at least")
        rows = (
            (
                witness.event,
                str(witness.likelier),
                str(witness.often),
                str(witness.seldom),
                f"{witness.epsilon(self.delta):.4g}",
                f"{witness.mu:.4g}",
            )
            for witness in self.witnesses
        )
        return carded(grid(str(self).splitlines()[0], head, rows))


def lower_bound(
    first: ArrayLike, second: ArrayLike, *, delta: float = 0.0, confidence: float = CONFIDENCE
) -> LowerBound:
    """Bound a mechanism's epsilon and mu from below by its outputs on two neighboring data sets.

    Parameters
    ----------
    first, second : array of numbers, shape (n,) or (n, d)
        Independent outputs on one data set, and on its neighbor. Outputs of another kind must be turned into numbers
        by a function fixed beforehand: that is post-processing, so what it shows is true of the mechanism.
    delta : float
        The delta at which epsilon is bounded.
    confidence : float
        One minus the risk that any number of the result is wrong.

    Returns
    -------
    LowerBound
        A small number proves nothing: the outputs may be few, the events poor, the data sets not the worst.

    Guarantee
    ---------
    Let the outputs be independent. Then with probability at least `confidence`, whatever the mechanism is, it is not
    (e, d)-private for any d and any e < `epsilon_at(d)`, nor m-Gaussian-private for any m < `mu`; all at once.

    Half of the outputs, at most 200 000, choose events; the rest count them, so that given the events the counts are
    binomial. With P and Q the probabilities of an event, P is bounded from below and Q from above (Clopper and
    Pearson 1934), and the risk is shared equally by all these bounds (Bonferroni). Privacy says that
    P <= exp(epsilon) Q + delta, in both directions (as a hypothesis test: Kairouz, Oh and Viswanath 2015), so
    epsilon >= ln((P - delta) / Q) (Nasr et al. 2021). Gaussian privacy says that P <= Phi(Phi^-1(Q) + mu)
    (Dong, Roth and Su 2022), so mu >= Phi^-1(P) - Phi^-1(Q) (Nasr et al. 2023).

    Examples
    --------
    >>> import numpy as np
    >>> generator = np.random.default_rng(7)
    >>> shown = lower_bound(generator.laplace(0, 1, 100_000), generator.laplace(1, 1, 100_000))
    >>> 0.9 < shown.epsilon <= 1.0
    True
    """
    found = witnesses(first, second, deltas=[delta], confidence=confidence)
    return LowerBound(delta, confidence, found)
