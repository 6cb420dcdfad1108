"""Memory is kept between steps, where the system's allocator would give it back."""

from __future__ import annotations

import ctypes
import json
import os
import subprocess
import sys

import pytest

STEPS = """
import json, resource, torch
from torch import nn
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.clipping.kept_memory import keep_memory

torch.set_num_threads(1)
model = nn.Sequential(nn.Conv2d(3, 32, 3, padding=1), nn.ReLU(), nn.Conv2d(32, 32, 3, padding=1), nn.Flatten(1))
inputs, faults = torch.randn(64, 3, 24, 24), []
for _ in range(4):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    clipped_sum(model, lambda given, wanted: given.mean(dim=1) - wanted, inputs, torch.zeros(64))
    faults.append(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
print(json.dumps([faults, keep_memory()]))
"""

pytestmark = pytest.mark.skipif(
    os.name != "posix" or not hasattr(ctypes.CDLL(None), "gnu_get_libc_version"), reason="another allocator"
)


def after_steps(**chosen: str) -> tuple[list[int], bool]:
    """New pages in each of four steps, and whether thresholds were set."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("MALLOC_", "GLIBC_"))}
    run = subprocess.run([sys.executable, "-c", STEPS], env=kept | chosen, capture_output=True, check=True)
    faults, changed = json.loads(run.stdout)
    return faults, changed


def test_a_step_gets_no_pages_anew_that_the_last_one_had() -> None:
    faults, changed = after_steps()
    assert changed
    assert faults[0] > 5_000
    assert min(faults[1:]) < faults[0] / 100


def test_who_has_chosen_for_the_allocator_is_left_alone() -> None:
    assert after_steps(MALLOC_TRIM_THRESHOLD_="134217728")[1] is False
    assert after_steps(GLIBC_TUNABLES="glibc.malloc.arena_max=2")[1] is False
