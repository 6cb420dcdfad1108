"""Systems on which functions cannot be isolated in full: this one, perhaps, and one that is made up."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.core.errors import NotPermitted
from discreet.trust.isolation import isolated
from discreet.trust.isolation.isolated import BlockServer
from discreet.trust.isolation.job import Job


def obstacle() -> str:
    """Why full isolation is not to be had here; empty, if it is."""
    try:
        isolated.try_form("full")
    except NotPermitted as why:
        return str(why)
    return ""


@pytest.fixture
def unfiltered(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A system without a filter of system calls."""

    def server(job: Job, lines: int) -> BlockServer:
        if job.full:
            raise OSError("no filter")
        return BlockServer(job, lines)

    monkeypatch.setattr(isolated, "BlockServer", server)
    isolated.try_form.cache_clear()
    yield
    isolated.try_form.cache_clear()
