"""What is random is replayed: a test, or the example of a docstring, fails always or never."""

from __future__ import annotations

import gc
import hashlib
import os
import random
import secrets
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import settings
from tests import narrow
from tests.power import Power

from discreet.core.held import this_process
from discreet.ledger import book_ledger
from discreet.noise.system_bits import KeyStream, SystemBits, system_bits


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--fresh", action="store_true", help="draw fresh noise, as releases do, and twice the cases")
    parser.addoption(
        "--room", help="of the common trials, only what is about this room: `sequential`, `learners/linear`"
    )
    parser.addoption("--strict-room", action="store_true", help="of the common trials, nothing that is about no room")
    parser.addoption("--keep", action="store_true", help="keep the pictures of `tests/look` as they look now")


def pytest_configure(config: pytest.Config) -> None:
    """Without limits of time, which a busy machine exceeds."""
    settings.register_profile("replayed", deadline=None, max_examples=50, derandomize=True)
    settings.register_profile("fresh", deadline=None)
    settings.load_profile("fresh" if config.getoption("fresh") else "replayed")
    narrow.room, narrow.strict = config.getoption("room") or "", config.getoption("strict_room")
    if not config.pluginmanager.has_plugin(Power.name):
        config.pluginmanager.register(Power(), Power.name)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the trials of what lives in other rooms than the one that was asked for."""
    concerned = [narrow.concerned(item) for item in items]
    config.hook.pytest_deselected(items=[item for item, kept in zip(items, concerned, strict=True) if not kept])
    items[:] = [item for item, kept in zip(items, concerned, strict=True) if kept]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """What the tests of a file share is made in one worker."""
    from tests.workers import ByGroup  # for `pytest -n` alone

    return ByGroup(config, log)


def pytest_collection() -> None:
    """What is imported and collected stays: the garbage collector need not walk it again and again."""
    gc.disable()


def pytest_collection_finish() -> None:
    """Nor afterwards."""
    gc.freeze()
    gc.enable()


def pytest_unconfigure() -> None:
    gc.unfreeze()  # extension modules look for leaks when the process ends


def replayed_keys(seed: bytes) -> Callable[[], str]:
    """Keys of requests that are the same in every run; other processes draw their own."""
    process, drawn = os.getpid(), random.Random(seed)
    return lambda: f"{drawn.getrandbits(128):032x}" if os.getpid() == process else secrets.token_hex(16)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Let the secret bits of this thread begin anew, from the name of the test; other threads and processes draw fresh.

    So whether a test fails depends on the code alone, and whoever changes what is drawn sees what follows. Fixtures of
    modules are set up afterwards, for the first test that needs them.
    """
    source = system_bits()
    assert isinstance(source, SystemBits)
    if item.config.getoption("fresh"):
        return
    path, _, name = item.location  # to the identifier, workers add their group
    key = hashlib.sha256(f"{path} {name}".encode()).digest()
    source._own.stream, source._own.process = KeyStream(key), this_process()
    book_ledger.fresh_key = replayed_keys(key)  # public choices, such as those of a first center, follow from keys
    np.random.seed(0)  # noqa: NPY002 - what scikit-learn draws from without a random_state
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(0)  # that of the processor: the others are not here


def pytest_runtest_teardown() -> None:
    """Nobody's figures stay open: pyplot warns of many, whichever tests have run before in the same worker."""
    if "matplotlib.pyplot" in sys.modules:
        sys.modules["matplotlib.pyplot"].close("all")
