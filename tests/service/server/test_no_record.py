"""The process that serves reads no record: what it opens is watched while everything is asked of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

from discreet.service.server.site import Site
from tests.service.server.made_site import made_site

WATCHED: list[str] = []
OPENED: list[str] = []


def watch(event: str, given: tuple[Any, ...]) -> None:
    """An audit hook, which stays for ever: it does nothing while nothing is watched."""
    if WATCHED and event == "open" and isinstance(given[0], str | bytes | os.PathLike):
        OPENED.append(os.fsdecode(given[0]))


def test_the_server_opens_no_file_of_records_whatever_is_asked(tmp_path: Path) -> None:
    sys.addaudithook(watch)
    records = tmp_path / "staff.csv"
    path = made_site(tmp_path)
    WATCHED.append(str(records))
    try:
        with Site.open(path) as site:
            bob = site.file.users["bob"]
            answer = site.ask(bob, "staff", "mean of pay", epsilon=1.0, key="k")
            site.plan(bob, "staff", "mean of pay", "quantile of pay q=0.5", n=400, epsilon=0.5)
            site.ask(bob, "staff", "SELECT count(*) AS n FROM staff WHERE pay > 40", epsilon=0.5)
            model = site.ask(bob, "staff", {"learner": "KMeans", "parameters": {"n_clusters": 2}}, epsilon=0.5)
            while not site.answer(bob, model.id).done:
                pass
            site.data_sets(bob)
            site.verify(site.file.users["cat"], "staff")
    finally:
        WATCHED.clear()
    assert answer.done
    assert any(name.endswith("staff.ledger") for name in OPENED)  # it would be seen
    assert not [name for name in OPENED if Path(name).resolve() == records]
