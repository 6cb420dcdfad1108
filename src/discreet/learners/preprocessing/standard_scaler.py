"""A private standard scaler, from noisy means and squares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.fitting.task import Task
from discreet.learners.private_transformer import PrivateTransformer, numbers_of, rescaled
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.transformation import Transformation
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.least_noise import SumPlan, planned
from discreet.schema.schema import Number, Schema
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

FLATTEST = 2.0**-12  # the least variance, in units of the square of half the distance between the bounds


class StandardScaler(PrivateTransformer):
    """Numbers less their mean, in units of their standard deviation, from one noisy sum; categories are kept.

    What it gives lies between `-reach` and `reach`, so that whatever follows has public bounds. A record with a missing
    number counts for nothing in the fit, and stays missing in that column. A variance that noise could feign is raised
    to what the noise explains.

    Parameters
    ----------
    reach : float
        Public. How many standard deviations from the mean a value is moved to at most.
    bounds : (lower, upper), or Schema, optional
        Public. Two numbers, or two sequences with one number per feature, or a schema; not for `PrivateData`, which
        have one.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    mean_ : array of shape (n_numbers,)
        Released. The mean of each numeric feature.
    scale_ : array of shape (n_numbers,)
        Released. Its standard deviation.
    columns_ : tuple of Column
        Public. What the schema says of each feature.
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
    `event_`: one release of one bounded sum, that of `column_moments`, for the neighbors and the unit of the data set;
    add or remove one record for arrays. Released: `mean_` and `scale_`, which follow from it (Dwork, McSherry, Nissim
    and Smith 2006). `transform` computes from rows that the caller already has, and what it gives is not private.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal([30.0, 5.0], [10.0, 1.0], (50_000, 2))
    >>> scaler = StandardScaler(bounds=([0.0, 0.0], [100.0, 10.0]), epsilon=1.0).fit(X)
    >>> scaler.mean_.round(), scaler.scale_.round()
    (array([30.,  5.]), array([10.,  1.]))
    """

    purpose: ClassVar[str] = "standard scaler"

    def __init__(self, reach: float = 4.0, *, bounds: Any = None, epsilon: float = 1.0, delta: float = 1e-6) -> None:
        self.reach = reach
        self.bounds = bounds
        self.epsilon = epsilon
        self.delta = delta

    def check(self) -> None:
        """Refuse invalid parameters, before any data are read."""
        check_positive(self.purpose, "reach", self.reach, 2.0**-6, 2.0**12)

    def plan(self, task: Task) -> SumPlan:
        """One sum of the values and their squares."""
        names = numbers_of(task.schema, task.features)
        if not names:
            raise ParameterError(self.purpose, "there is no numeric feature", "Leave it out, or describe numbers.")
        return planned(task.data, task.budget, column_moments_of(task.schema, names))

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Means and variances from the noisy sum."""
        names = numbers_of(task.schema, task.features)
        moments = ColumnMoments.of(permit.ask(plan.question, plan.spread.noise), plan.spread.stddev)
        box = Coordinates.of(task.schema, names, 1.0)
        middle, half = box.middle[:, 0], box.half[:, 0]
        least = np.clip(moments.error, FLATTEST, 1.0)  # squares have half of the noise, and squared means at most twice
        variances = np.clip(moments.squares - moments.means**2, least, 1.0)
        return {"mean_": middle + half * moments.means, "scale_": half * np.sqrt(variances)}

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """Numbers less their mean, over their standard deviation."""
        weights = 1.0 if fitted is None else 1 / fitted["scale_"]
        offsets = 0.0 if fitted is None else -fitted["mean_"] * weights
        return rescaled(schema, features, weights, offsets, Number(-float(self.reach), float(self.reach)))
