"""The curator who edits history: by every form and way of a site, and with the file of its ledger in hand."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.core.errors import LedgerBroken, LedgerError
from discreet.core.receipt import Receipt
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.ledger.anchor import Anchor, AnchoredHead
from discreet.ledger.chain import BEFORE_ALL, ChainEntry, sealed
from discreet.ledger.ledger_view import verify
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.service.cli.command import main
from discreet.service.console.console import PATHS
from discreet.service.server.api_ways import WAYS
from discreet.service.server.site import Site
from discreet.service.server.site_answer import SiteAnswer
from discreet.service.server.site_refusals import ReadOnlySite
from tests.service.console.made_console import made_console, read, signed_in

CLINIC = Identity.drawn("clinic", DeterministicBits(3))
ASKED = ("count", "mean of age", "median of age", "mean of stay_days")


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[tuple[Site, httpx.Client]]:
    with made_console(tmp_path, identity=CLINIC) as found:
        yield found


def answered(site: Site) -> list[SiteAnswer]:
    """What an analyst was told."""
    ann = site.file.users["ann"]
    return [site.ask(ann, "patients", text, epsilon=0.25, key=text) for text in ASKED]


def links(folder: Path) -> tuple[ChainEntry, ...]:
    with SqliteLedger.open(folder / "patients.ledger") as ledger:
        return ledger._book.links()


def test_no_form_and_no_way_changes_or_removes_an_entry(opened: tuple[Site, httpx.Client], tmp_path: Path) -> None:
    site, anybody = opened
    told, browser, key = answered(site), signed_in(site, anybody, "cat"), site.keys.drawn("cat")
    before = links(tmp_path)
    said = {"reason": "r", "question": "count", "questions": ["count"], "epsilon": 0.1, "most": 1, "key": "count",
            "event": {"kind": "pure", "epsilon": 0.1}}  # fmt: skip
    for way in WAYS:
        path = way.path.format(name="patients", id=told[1].id)
        body = {name: value for name, value in said.items() if name in way.fields}
        anybody.request(way.method, path, json=body if way.method == "POST" else None,
                        headers={"Authorization": f"Bearer {key}"})  # fmt: skip
        for method in ("PUT", "PATCH", "DELETE"):
            assert anybody.request(method, path, headers={"Authorization": f"Bearer {key}"}).status_code in (404, 405)
    token = read(browser.get("/data").text).forms[0].fields["csrf"]
    for one in PATHS:
        path = one.path.replace("{step:int}", "1").format(name="patients", id=told[1].id, file="x")
        for decision in ("approve", "deny", "again", "remove"):
            if one.sent is not None and one.path != "/sign-out":
                fields = {"csrf": token, "decision": decision, "reason": "r", "key": told[1].key, "number": "1"}
                assert browser.post(path, data=fields).status_code < 500
        assert browser.request("DELETE", path).status_code in (404, 405)
    site.thaw(site.file.users["cat"], "patients")
    assert links(tmp_path)[: len(before)] == before
    again = answered(site)
    assert [(one.result, one.replayed) for one in again] == [(one.result, True) for one in told]


def resealed(changed: list[tuple[ChainEntry, bytes | None]]) -> list[tuple[ChainEntry, bytes | None]]:
    """These entries as a chain of their own: numbered and hashed anew, as whoever has the file can."""
    head, found, numbers = BEFORE_ALL, [], dict[str, int]()
    for number, (link, result) in enumerate(changed):
        fields = {name: one for name, one in link.fields.items() if name not in ("number", "kind", "key")}
        if link.kind == "reserve":
            numbers[link.key] = number
        elif link.kind == "commit":
            fields["reservation"] = numbers[link.key]
        link = sealed(head, number, link.kind, link.key, **fields)
        head = link.hash
        found.append((link, result))
    return found


def edited(folder: Path, edit: Callable[[sqlite3.Connection], None]) -> None:
    """Change the file of the ledger, beside whoever has it open."""
    db = sqlite3.connect(folder / "patients.ledger")
    with db:
        edit(db)
    db.close()


def rewritten(folder: Path, wanted: Callable[[ChainEntry], bool]) -> None:
    """Write a whole new chain of the entries that are wanted, and the newest head beside it: it adds up by itself."""

    def edit(db: sqlite3.Connection) -> None:
        rows = db.execute("select number, kind, key, body, hash, bytes from entry left join result using (number)")
        kept = resealed([(ChainEntry(*row[:5]), row[5]) for row in rows.fetchall() if wanted(ChainEntry(*row[:5]))])
        db.execute("delete from result")
        db.execute("delete from entry")
        for link, result in kept:
            db.execute("insert into entry values (?, ?, ?, ?, ?)", tuple(getattr(link, name) for name in COLUMNS))
            if result is not None:
                db.execute("insert into result values (?, ?)", (link.number, result))
        Anchor(folder / "patients.ledger.head").create(AnchoredHead(kept[-1][0].number, kept[-1][0].hash))

    edited(folder, edit)


def run(db: sqlite3.Connection, statements: str) -> None:
    """Run statements, one after another, in the transaction that is open."""
    for one in statements.split(";"):
        db.execute(one)


COLUMNS = ("number", "kind", "key", "body", "hash")
LAST = "(select max(number) from entry where kind = 'reserve')"
EDITS: dict[str, str] = {
    "another analyst": 'update entry set body = replace(body, \'"analyst":"ann"\', \'"analyst":"eve"\')',
    "another purpose": "update entry set body = replace(body, 'mean of age', 'nothing') where kind = 'reserve'",
    "an entry in the middle": "delete from entry where kind = 'reserve' and key = 'ann/mean of age'",
    "the newest charge": f"delete from result where number > {LAST}; delete from entry where number >= {LAST}",
    "all charges": "delete from result; delete from entry where number > 0",
    "two entries change places": "update entry set number = 100 - number; update entry set number = 100 - number"
    " where number < 99; update entry set number = 1 where number = 99",
}


@pytest.mark.parametrize("edit", [*EDITS])
def test_a_file_that_was_edited_stops_the_site_that_has_it_open_and_the_next_one(
    opened: tuple[Site, httpx.Client], tmp_path: Path, edit: str
) -> None:
    site, _ = opened
    answered(site)
    edited(tmp_path, lambda db: run(db, EDITS[edit]))
    with pytest.raises(ReadOnlySite):
        site.verify(site.file.users["dan"], "patients")
    with pytest.raises(ReadOnlySite):
        site.ask(site.file.users["ann"], "patients", "count", epsilon=0.1, key="after")
    with pytest.raises(LedgerBroken), SqliteLedger.open(tmp_path / "patients.ledger") as ledger:
        ledger.verify()


def test_a_result_that_was_exchanged_is_never_handed_out(opened: tuple[Site, httpx.Client], tmp_path: Path) -> None:
    site, _ = opened
    answered(site)
    edited(tmp_path, lambda db: run(db, "update result set bytes = cast('5' as blob)"))
    with pytest.raises(ReadOnlySite):
        site.verify(site.file.users["cat"], "patients")
    with SqliteLedger.open(tmp_path / "patients.ledger") as ledger, pytest.raises(LedgerBroken, match="not the one"):
        ledger.verify()


def test_a_chain_that_was_written_anew_stops_the_site_that_knows_the_old_one(
    opened: tuple[Site, httpx.Client], tmp_path: Path
) -> None:
    site, _ = opened
    answered(site)
    rewritten(tmp_path, lambda link: link.key != "ann/mean of age")
    with pytest.raises(ReadOnlySite):
        site.ask(site.file.users["ann"], "patients", "count", epsilon=0.1, key="after")


def test_a_chain_that_was_written_anew_is_refuted_by_a_receipt_that_an_analyst_holds(
    opened: tuple[Site, httpx.Client], tmp_path: Path, capsys: Any
) -> None:
    """Such a chain adds up by itself: what the site signed before says that another entry was there."""
    told = answered(opened[0])
    opened[0].data_set(opened[0].file.users["cat"], "patients")
    rewritten(tmp_path, lambda link: link.key != "ann/mean of age")
    ledger, card = tmp_path / "patients.ledger", tmp_path / "card"
    with SqliteLedger.open(ledger) as anew:
        assert anew.verify().entries == 2 * len(ASKED) - 1  # nothing in it shows what is missing
    card.write_bytes(PartyCertificate.of(CLINIC).certificate)
    for one in told[1:]:  # the entry that is gone, and all that were after it
        assert one.receipt is not None
        file = tmp_path / "receipt.json"
        file.write_text(one.receipt.to_json())
        assert main(["receipt", "verify", str(file), "--card", str(card)]) == 0
        assert "clinic signed it" in capsys.readouterr().out
        assert main(["receipt", "verify", str(file), "--ledger", str(ledger)]) == 4  # as all that a ledger refuses
        with pytest.raises(LedgerError, match="does not occur"):
            verify(ledger, expected_head=one.receipt.head)
    assert told[0].receipt is not None  # what was before it is the same in both
    verify(ledger, expected_head=told[0].receipt.head)
    assert Receipt.read(file.read_text()).checkpoint is not None
