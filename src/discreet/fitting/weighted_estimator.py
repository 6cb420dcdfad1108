"""Learners whose records may have weights: private ones, which only lessen what a record adds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self, cast

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.mechanism import Mechanism
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task
from discreet.questions.question import BoundedSum
from discreet.questions.weighted import weighted
from discreet.trust.permit import Permit


@dataclass(frozen=True)
class WeightedPermit:
    """A permit whose every sum is of contributions times the weights of their records.

    Parameters
    ----------
    permit : Permit
        Who answers.
    task : Task
        Public. With a column of weights.
    """

    permit: Permit
    task: Task

    def ask(self, question: BoundedSum, mechanism: Mechanism[Any]) -> Any:
        """The release of the weighted sum, with the noise of the other, whose bound it has."""
        return self.permit.ask(weighted(question, str(self.task.weight), self.task.data.schema), mechanism)


class WeightedEstimator(PrivateEstimator):
    """A learner that asks sums alone, to which records may add less than others.

    A weight is as private as all that a record holds: the fit promises the same, and has the same noise, whatever
    weights there are.
    """

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, *, key: str | None = None) -> Self:
        """Learn.

        Parameters
        ----------
        X : PrivateData, array of shape (n, n_features), or data frame
            The records.
        y : array of shape (n,), optional
            The target; not for private data, whose target is a column.
        sample_weight : array of shape (n,), or str, optional
            The weight of each record, from 0 to 1; of private data the name of their column, which is no feature then.
            Larger ones are 1, and a missing or negative one is 0: divide by the largest that is possible. A weight is
            private; the smaller weights are, the more noise there is beside what records add.
        key : str, optional
            Public. Makes a retry safe; see `PrivateData.permit`. It gives the same model again, from the ledger.
        """
        if sample_weight is None:
            return super().fit(X, y, key=key)
        if isinstance(X, Task):
            raise ParameterError(self.purpose, "the task has its weights already", "Leave sample_weight out.")
        self.check_all()
        return super().fit(self._task(X, y, Budget(self.epsilon, self.delta), sample_weight), key=key)

    def asked_of(self, permit: Permit, task: Task) -> Permit:
        return permit if task.weight is None else cast(Permit, WeightedPermit(permit, task))
