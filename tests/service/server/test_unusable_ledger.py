"""Ledgers that a running site cannot use: what is refused meanwhile, who is told, and that it goes on afterwards."""

from __future__ import annotations

import multiprocessing
import secrets
import shutil
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import UncommittedCharge
from discreet.ledger import file_lock
from discreet.ledger.ledger_file import LedgerFile
from discreet.query.sample import SCHEMA
from discreet.query.schema_file import read_schema
from discreet.service.server.site import Site
from discreet.service.server.site_answer import SiteAnswer
from discreet.service.server.site_refusals import ReadOnlySite, status_of
from discreet.service.server.site_store import AskedEntry
from tests.ledger.group_soak import crash
from tests.ledger.places import DatabasePlace
from tests.service.server.made_site import TEXT, made_site

EPSILON = 0.01
fresh = multiprocessing.get_context("forkserver")


def asked(site: Site, key: str) -> SiteAnswer:
    return site.ask(site.file.users["ann"], "patients", "count", epsilon=EPSILON, key=key)


def unusable(site: Site, key: str, why: str) -> None:
    """It is refused by 503, with what its owner has to do."""
    with pytest.raises(ReadOnlySite, match=why) as refused:
        asked(site, key)
    assert status_of(refused.value) == 503
    assert "owner" in str(refused.value)


def hold(path: Path, held: Any, done: Any) -> None:
    """In another process: keep the ledger locked."""
    with LedgerFile(path).locked():
        held.set()
        done.wait(60)


def test_a_ledger_that_is_locked_charges_nobody_and_goes_on_when_it_is_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held, done = fresh.Event(), fresh.Event()
    with Site.open(made_site(tmp_path)) as site:
        first = asked(site, "before")
        process = fresh.Process(target=hold, args=(tmp_path / "patients.ledger", held, done))
        process.start()
        assert held.wait(60)
        monkeypatch.setattr(file_lock, "PATIENCE", 0.2)
        unusable(site, "meanwhile", "cannot be written now")
        assert asked(site, "before").text == first.text  # what was paid for needs no lock
        done.set()
        process.join()
        monkeypatch.undo()
        assert asked(site, "meanwhile").done
        assert len(site.history(site.file.users["cat"], "patients")) == 2


def test_an_older_copy_under_a_running_site_stops_it_until_the_newest_is_back(tmp_path: Path) -> None:
    files = ("patients.ledger", "patients.ledger.head")
    with Site.open(made_site(tmp_path)) as site:
        cat = site.file.users["cat"]
        for folder, key in (("old", "one"), ("new", "two")):
            asked(site, key)
            site._data["patients"]._ledger.close()  # type: ignore[union-attr]  # all of it is in the file
            (tmp_path / folder).mkdir()
            for name in files:
                shutil.copy(tmp_path / name, tmp_path / folder / name)
        for name in files:
            shutil.copy(tmp_path / "old" / name, tmp_path / name)
        unusable(site, "three", "cannot be used")
        view = site.data_set(cat, "patients")
        assert "rolled back" in view.trouble
        assert view.balances == {}
        for name in files:
            shutil.copy(tmp_path / "new" / name, tmp_path / name)
        unusable(site, "three", "cannot be used")  # until a curator has looked
        assert site.reopen(cat, "patients") == ""
        assert asked(site, "three").done
        assert asked(site, "one").replayed


@pytest.fixture
def place(postgres: str, tmp_path: Path) -> DatabasePlace:
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    return DatabasePlace(postgres, str(tmp_path), f"site{secrets.token_hex(4)}")


def site_on(place: DatabasePlace, folder: Path, budget: Budget) -> Path:
    """The file of a site whose first ledger is in a database."""
    account = f'{{ address = "{place.address}", name = "{place.name}", anchor = "{place.anchor.path}" }}'
    path = made_site(folder, text=TEXT.replace('"patients.ledger"', account))
    place.created(budget, unit=read_schema(SCHEMA).unit).close()
    return path


def in_the_end(site: Site, key: str) -> SiteAnswer | None:
    """The answer; None where it was charged and lost."""
    for _ in range(600):
        try:
            return asked(site, key)
        except ReadOnlySite:
            time.sleep(0.05)
        except UncommittedCharge:
            return None
    raise AssertionError("the database did not come back")


@pytest.mark.xdist_group("postgres")
def test_a_database_that_is_killed_under_load_loses_no_answer_that_somebody_got(
    place: DatabasePlace, tmp_path: Path
) -> None:
    keys = [f"key {number}" for number in range(60)]
    with Site.open(site_on(place, tmp_path, Budget(10.0))) as site, ThreadPoolExecutor(6) as threads:
        waiting = [threads.submit(in_the_end, site, key) for key in keys]
        for _ in range(3):
            time.sleep(0.2)
            crash(place)
        found = {key: one.result() for key, one in zip(keys, waiting, strict=True)}
        told = {key: one for key, one in found.items() if one is not None}
        assert len(told) > 30
        for key, one in told.items():
            again = asked(site, key)
            assert (again.replayed, again.text, again.receipt and again.receipt.head) == (
                True, one.text, one.receipt and one.receipt.head,
            )  # fmt: skip
        lost: list[AskedEntry] = site.asked(site.file.users["cat"], "patients", "dangling")
        assert {one.key for one in lost} == found.keys() - told.keys()
    with place.opened() as ledger:
        ledger.verify()
        charged = {one.key.removeprefix("ann/"): one.committed for one in ledger.entries()}
        assert len(charged) == len(ledger.entries()) == len(keys)
        assert {key for key, committed in charged.items() if committed} == told.keys()
        assert ledger.balance().certified == pytest.approx(EPSILON * len(keys), rel=1e-6)
