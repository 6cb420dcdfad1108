"""One-hot encoding by public lists, which costs nothing."""

from __future__ import annotations

import numpy as np

from discreet.learners.preprocessing.one_hot_encoder import OneHotEncoder
from discreet.schema.schema import Category, Number, Schema
from tests.learners import trial
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(OneHotEncoder(bounds=trial.BOUNDS))
SCHEMA = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "city": Category(("a", "b", "c"))})


def test_each_value_has_a_column_and_nothing_is_paid() -> None:
    encoder = OneHotEncoder(bounds=SCHEMA).fit([[30, "f", "a"]])
    assert list(encoder.get_feature_names_out()) == ["x0", "x1_f", "x1_m", "x2_a", "x2_b", "x2_c"]
    assert encoder.receipt_.epsilon == 0.0
    np.testing.assert_array_equal(
        encoder.transform([[30, "m", "c"], [130, "?", None]]), [[30, 0, 1, 0, 0, 1], [100, 0, 0, 0, 0, 0]]
    )
