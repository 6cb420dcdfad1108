"""Private ridge regression, from noisy second moments."""

from __future__ import annotations

from typing import Any, ClassVar

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.learners.linear.linear_regression import LinearRegression


class Ridge(LinearRegression):
    """Linear least squares with an l2 penalty, from the noisy sum of all products of two columns.

    Records are centred and scaled by noisy moments of their columns, target included, and shrunk where they are long;
    one with a missing value counts for nothing.

    Parameters
    ----------
    alpha : float
        Public. The penalty on squared coefficients of features that are scaled to variance 1. What the noise could
        feign is added to it, so that the problem stays convex.
    target : str, optional
        Public. The column to predict, of `PrivateData`.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    target_bounds : (lower, upper), optional
        Public. Of the target; not for `PrivateData`.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients, in the units of the data.
    intercept_ : float
        Released. The intercept.
    coef_stderr_ : array of shape (n_features,)
        Released. Standard errors of the coefficients, by sampling and by noise; they do not include the bias of the
        penalty.
    intercept_stderr_ : float
        Released. The same of the intercept.
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`: two releases of one bounded sum each, composed, for the neighbors and the unit of the data set; add or
    remove one record for arrays. Released: the attributes above, which follow from these.
    Sufficient statistics perturbation: Vu and Slavkovic 2009; Foulds, Geumlek, Welling and Chaudhuri 2016.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (200_000, 2))
    >>> model = Ridge(bounds=(-1, 1), target_bounds=(-3, 3), epsilon=1.0).fit(X, X @ [2.0, -1.0] + 0.5)
    >>> model.coef_.round(1), round(model.intercept_, 1)
    (array([ 2., -1.]), 0.5)
    """

    purpose: ClassVar[str] = "ridge regression"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        super().__init__(target=target, bounds=bounds, target_bounds=target_bounds, epsilon=epsilon, delta=delta)
        self.alpha = alpha

    def check(self) -> None:
        """Refuse parameters that cannot be, before any data are looked at."""
        check_positive(self.purpose, "alpha", self.alpha, least=0.0)

    def penalty(self, sums: Array, spectral: float, unit: float) -> float:
        """The penalty that was asked for, and what the noise requires."""
        return self.alpha * unit + super().penalty(sums, spectral, unit)
