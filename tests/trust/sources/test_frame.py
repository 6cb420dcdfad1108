"""Data frames and columns as sources."""

from __future__ import annotations

import numpy as np
import pandas as pd

from discreet.schema.schema import Number, Schema
from discreet.trust.sources.frame import Frame
from tests.trust.sources.trial import SourceTrial

TRIAL = SourceTrial(lambda table, schema, folder: Frame(dict(table), schema), mixed=True, in_memory=True)


def test_columns_that_are_not_in_the_schema_are_never_read() -> None:
    frame = pd.DataFrame({"x": [0.5, 2.0], "other": [object(), object()]})
    np.testing.assert_array_equal(Frame(frame, Schema({"x": Number(0, 1)})).everything(("x",)), [[0.5], [1.0]])
