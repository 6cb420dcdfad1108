"""Categories as their places in public lists, which costs nothing."""

from __future__ import annotations

import numpy as np

from discreet.learners.preprocessing.ordinal_encoder import OrdinalEncoder
from tests.learners import trial
from tests.learners.preprocessing.test_one_hot_encoder import SCHEMA
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(OrdinalEncoder(bounds=trial.BOUNDS))


def test_each_value_is_its_place_and_nothing_is_paid() -> None:
    encoder = OrdinalEncoder(bounds=SCHEMA).fit([[30, "f", "a"]])
    assert encoder.receipt_.epsilon == 0.0
    np.testing.assert_array_equal(encoder.transform([[30, "m", "c"], [130, "?", None]]), [[30, 1, 2], [100, -1, -1]])
