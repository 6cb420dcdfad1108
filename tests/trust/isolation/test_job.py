"""How functions travel: lambdas, closures, objects and modules of one's own, by value; libraries by name."""

from __future__ import annotations

import functools
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType

import cloudpickle
import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.identity import installed
from discreet.trust.isolation.job import Shipment

HELPERS = """
FACTOR = 3.0
class Scale:
    def __init__(self, by): self.by = by
    def __call__(self, rows): return rows.sum() * self.by * FACTOR
"""
SCRIPT = """
import functools
import numpy as np
import helpers
from helpers import Scale
from discreet.trust.isolation.isolated import isolated

OFFSET = 1.0
def shifted(rows, by=0.0): return rows.sum() + OFFSET + by
def above(limit): return lambda rows: (rows > limit).sum()
ways = [shifted, functools.partial(shifted, by=2.0), above(0.5), Scale(2.0), Scale(2.0).__call__,
        lambda rows: helpers.Scale(1.0)(rows), np.sum]
together = lambda rows: [way(rows) for way in ways]
print(isolated(together, [np.ones((2, 1))], len(ways), 2.0)[0].tolist())
"""


def test_functions_of_a_script_and_of_its_modules_travel_by_value(tmp_path: Path) -> None:
    (tmp_path / "helpers.py").write_text(HELPERS)
    (tmp_path / "analysis.py").write_text(SCRIPT)
    done = subprocess.run([sys.executable, str(tmp_path / "analysis.py")], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[3.0, 5.0, 2.0, 12.0, 12.0, 6.0, 2.0]"


def test_libraries_go_by_name_with_what_is_loaded_of_them() -> None:
    shipment = Shipment.of(functools.partial(np.percentile, q=30))
    assert len(shipment.function) < 300
    assert "numpy" in shipment.modules
    assert all(installed(sys.modules[name]) for name in shipment.modules)
    assert not installed(sys.modules[__name__])
    assert not installed(ModuleType("made_up"))


def test_the_list_of_modules_that_go_by_value_is_left_as_it_was() -> None:
    before = cloudpickle.list_registry_pickle_by_value()
    lock = threading.Lock()
    with pytest.raises(ParameterError, match="cannot be sent to a process of its own"):
        Shipment.of(lambda rows: lock)
    assert pickle.loads(Shipment.of(lambda rows: 2.0).function)(None) == 2.0
    assert cloudpickle.list_registry_pickle_by_value() == before
