"""What learners that follow records through time have in common: a column of time among the features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.task import Task


class Timed(PrivateEstimator):
    """One of the numeric columns is the time, and all others are features.

    Parameters
    ----------
    time : int or str
        Public. The column of time, by its place or its name; all others are features.
    steps : int
        Public. How many steps divide the bounds of time into equal parts: a power of two.
    bounds : (lower, upper), optional
        Public. Two numbers, or two sequences with one number per column; not for `PrivateData`, whose schema has them.
    epsilon, delta : float
        Public. What one fit costs, for all steps together.

    Attributes
    ----------
    clock_ : array of shape (steps + 1,)
        Public. Where the steps end, from the lower to the upper bound of time.
    time_ : int
        Public. The place of the column of time.
    n_features_in_ : int
        Public. The number of columns, with that of time.
    """

    time: int | str
    time_: int
    clock_: Array

    def _place(self, task: Task) -> int:
        """The place of the column of time."""
        names = task.features
        place = names.index(self.time) if isinstance(self.time, str) and self.time in names else self.time
        if isinstance(place, str) or not 0 <= place < len(names):
            raise ParameterError(self.purpose, f"there is no column {self.time!r}", f"There are {', '.join(names)}.")
        return int(place)

    def _features(self, task: Task) -> tuple[str, ...]:
        """The names of all columns except that of time."""
        place = self._place(task)
        return task.features[:place] + task.features[place + 1 :]

    def _steps(self, rows: Array) -> NDArray[np.intp]:
        passed = np.searchsorted(self.clock_, rows[:, self.time_], side="right") - 1
        return np.clip(passed, 0, len(self.clock_) - 2)
