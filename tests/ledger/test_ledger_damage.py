from __future__ import annotations

import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from discreet.core.budget import Budget
from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, PureLoss, Repeated, Sampled
from discreet.core.ledger import Committed, Reservation
from discreet.core.neighbors import Neighbors
from discreet.ledger.anchor import Anchor, AnchoredHead
from discreet.ledger.chain import BEFORE_ALL, canonical, seal
from discreet.ledger.ledger_file import LedgerFile
from discreet.ledger.ledger_view import show, verify
from discreet.ledger.sqlite_ledger import SqliteLedger

RESULT = b"r" * 3000


def charged(ledger: SqliteLedger, key: str, epsilon: float = 0.125) -> Committed:
    paid = ledger.reserve(PureLoss(epsilon), f"question {key}", request=key, key=key)
    assert isinstance(paid, Reservation)
    return ledger.commit(paid, RESULT)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """The file of a ledger that has paid three times and lies closed."""
    path = tmp_path / "survey.ledger"
    with SqliteLedger.create(path, Budget(1.0), name="survey", neighbors=Neighbors.ADD_REMOVE) as ledger:
        for key in "abc":
            charged(ledger, key)
    return path


def head_of(path: Path) -> str:
    with SqliteLedger.open(path) as ledger:
        return ledger.head


def edited(path: Path, *statements: str) -> None:
    with closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)


def rewritten(path: Path, change: Callable[[dict[str, Any]], None]) -> None:
    """What somebody with the file and this source can do: change bodies, seal all anew, move the anchor."""
    before, number = BEFORE_ALL, 0
    with closing(sqlite3.connect(path)) as db, db:
        for number, body in db.execute("select number, body from entry order by number").fetchall():
            fields = json.loads(body)
            change(fields)
            before = seal(before, canonical(fields))
            db.execute("update entry set body = ?, hash = ? where number = ?", (canonical(fields), before, number))
    Anchor(path.with_name(path.name + ".head")).create(AnchoredHead(number, before))


def refuses(path: Path, why: str) -> None:
    """Neither opened, verified nor shown."""
    for attempt in (SqliteLedger.open, verify, show):
        with pytest.raises(LedgerBroken, match=why):
            attempt(path)


def test_a_whole_ledger_verifies(path: Path) -> None:
    report = verify(path)
    assert (report.entries, report.dangling, report.head) == (7, 0, head_of(path))


@pytest.mark.parametrize(
    "edit",
    [
        """update entry set body = replace(body, '"epsilon":0.125', '"epsilon":0.0125') where number = 3""",
        "update entry set body = replace(body, 'question b', 'question z') where number = 3",
        "update entry set hash = 'ff' || substr(hash, 3) where number = 3",
        "delete from entry where number = 3",
        "update entry set number = 30 where number = 3",
    ],
)
def test_an_edited_entry_is_found(path: Path, edit: str) -> None:
    edited(path, edit)
    refuses(path, "does not follow")
    with pytest.raises(LedgerBroken) as fault:
        verify(path)
    assert fault.value.values["entry"] in (3, 4)


def test_a_key_that_was_moved_is_found(path: Path) -> None:
    edited(path, "update entry set key = 'z' where number = 3")
    refuses(path, "columns")


def test_a_key_that_was_moved_under_a_live_ledger_pays_for_nothing(path: Path) -> None:
    with SqliteLedger.open(path) as ledger:
        before = ledger.head
        edited(path, "update entry set key = 'z' where key = 'b'")
        with pytest.raises(LedgerBroken, match=r"not a whole ledger \(UNIQUE"):
            charged(ledger, "z")  # in the file alone
        with pytest.raises(LedgerBroken, match="in its chain and not in its index"):
            charged(ledger, "b")  # in the chain alone
        assert (ledger.head, ledger.balance().certified) == (before, 0.375)


def test_an_edited_balance_is_found_even_if_every_hash_is_made_anew(path: Path) -> None:
    def lighten(fields: dict[str, Any]) -> None:
        if (fields["kind"], fields["key"]) == ("reserve", "c"):
            fields["charges"][0]["spent"][0]["loss"] = "1"

    rewritten(path, lighten)
    refuses(path, "became less")


def test_an_overdrawn_account_is_found_even_if_every_hash_is_made_anew(path: Path) -> None:
    def tighten(fields: dict[str, Any]) -> None:
        for charge in fields.get("charges", ()):
            for member in charge.get("members", ()):
                member["cap"]["loss"] = "1"

    rewritten(path, tighten)
    refuses(path, "overdrawn")


@pytest.mark.parametrize("first", [PureLoss(0.01), GaussianLoss(50.0), Repeated(Sampled(GaussianLoss(2.0), 0.01), 9)])
def test_verify_computes_caps_and_charges_anew(tmp_path: Path, first: Event) -> None:
    def lenient(fields: dict[str, Any]) -> None:
        for charge in fields.get("charges", ()):
            for member in charge.get("members", ()):
                member["cap"]["loss"] = str(int(member["cap"]["loss"]) * 101 // 100)

    def greedy(fields: dict[str, Any]) -> None:
        for charge in fields.get("charges", ()):
            for member in charge.get("members", ()):
                member["cap"]["delta"] = str(2**126)

    def cheap(fields: dict[str, Any]) -> None:
        if fields["key"] == "b":
            for spent in filter(None, fields["charges"][0]["spent"]):
                spent["loss"] = str(int(spent["loss"]) * 99 // 100)

    def revived(fields: dict[str, Any]) -> None:
        if fields["key"] in "bc" and fields["kind"] == "reserve":
            fields["charges"][0]["spent"] = [{"loss": "0", "delta": "0"} for _ in fields["charges"][0]["spent"]]

    faults = {lenient: "allows", greedy: "more delta", cheap: "costs|less", revived: "costs|less"}
    for number, (change, fault) in enumerate(faults.items()):
        path = tmp_path / f"{number}.ledger"
        with SqliteLedger.create(path, Budget(1.0, 1e-6), name="s", neighbors=Neighbors.ADD_REMOVE) as ledger:
            for key, event in (("a", first), ("b", LaplaceLoss(100.0)), ("c", GaussianLoss(80.0))):
                ledger.reserve(event, "q", request="q", key=key)
        verify(path)
        rewritten(path, change)
        with pytest.raises(LedgerBroken, match=fault):
            verify(path)


def test_only_a_head_kept_elsewhere_shows_that_the_whole_chain_was_rewritten(path: Path) -> None:
    kept = head_of(path)

    def rename(fields: dict[str, Any]) -> None:
        fields["at"] = "2000-01-01T00:00:00.000000+00:00"

    rewritten(path, rename)
    verify(path)
    with pytest.raises(LedgerBroken, match="expected head"):
        SqliteLedger.open(path, kept)
    with pytest.raises(LedgerBroken, match="expected head"):
        verify(path, kept)


def test_an_edited_result_is_found_and_never_handed_out(path: Path) -> None:
    edited(path, "update result set bytes = x'00' where number = 4")
    ledger = SqliteLedger.open(path)
    with pytest.raises(LedgerBroken, match="stored result"):
        ledger.reserve(PureLoss(0.125), "again", request="b", key="b")
    with pytest.raises(LedgerBroken, match="stored result") as fault:
        ledger.verify()
    assert fault.value.values["entry"] == 4


@pytest.mark.parametrize(
    "edit", ["delete from result where number = 4", "insert into result(number, bytes) values (3, x'00')"]
)
def test_a_lost_or_added_result_is_found(path: Path, edit: str) -> None:
    edited(path, edit)
    with pytest.raises(LedgerBroken, match="stored result"):
        verify(path)


@pytest.mark.parametrize("number", [6, 5, 1, 0])
def test_a_deleted_tail_is_found(path: Path, number: int) -> None:
    edited(path, f"delete from result where number >= {number}", f"delete from entry where number >= {number}")
    refuses(path, "cut, rolled back or exchanged")


@pytest.mark.parametrize("left", [0, 100, 4096, 8192, 16384])
def test_a_truncated_file_is_found(path: Path, left: int) -> None:
    assert path.stat().st_size > left
    os.truncate(path, left)
    with pytest.raises(LedgerBroken):
        verify(path)
    if left < 8192:
        refuses(path, "not a|whole")


def test_a_file_of_something_else_is_refused_and_left_alone(tmp_path: Path) -> None:
    garbage, other = tmp_path / "garbage", tmp_path / "other.db"
    garbage.write_bytes(b"not a database at all, " * 100)
    edited(other, "create table t(x)")
    for file in (garbage, other):
        before = file.read_bytes()
        refuses(file, "not a")
        assert file.read_bytes() == before


def test_a_ledger_of_a_newer_format_is_refused(path: Path) -> None:
    edited(path, "pragma user_version = 2")
    refuses(path, "format 2")


def test_a_missing_file_is_an_error_and_never_a_fresh_budget(path: Path) -> None:
    path.unlink()
    for attempt in (SqliteLedger.open, verify, show):
        with pytest.raises(LedgerMissing, match="not a fresh budget"):
            attempt(path)
    assert not path.exists()
    with pytest.raises(LedgerError, match=r"survey\.ledger\.head is there already"):
        SqliteLedger.create(path, Budget(1.0), name="survey", neighbors=Neighbors.ADD_REMOVE)
    assert not path.exists()


def test_a_file_lost_while_in_use_is_an_error(path: Path) -> None:
    ledger = SqliteLedger.open(path)
    path.unlink()
    with pytest.raises(LedgerMissing):
        charged(ledger, "d")
    assert not path.exists()


def test_an_older_copy_put_back_is_found(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy")
    with SqliteLedger.open(path) as ledger:
        charged(ledger, "d")
    shutil.copy(tmp_path / "copy", path)
    refuses(path, "lacks the anchored entry 8")


def test_an_older_copy_with_its_anchor_is_found_by_a_head_kept_elsewhere(path: Path, tmp_path: Path) -> None:
    anchor = path.with_name(path.name + ".head")
    shutil.copy(path, tmp_path / "copy")
    shutil.copy(anchor, tmp_path / "copy.head")
    with SqliteLedger.open(path) as ledger:
        kept = charged(ledger, "d").head
    shutil.copy(tmp_path / "copy", path)
    shutil.copy(tmp_path / "copy.head", anchor)
    SqliteLedger.open(path).close()
    with pytest.raises(LedgerBroken, match="expected head"):
        SqliteLedger.open(path, kept)


def test_an_older_copy_put_back_under_a_live_ledger_is_found(path: Path, tmp_path: Path) -> None:
    shutil.copy(path, tmp_path / "copy")
    ledger = SqliteLedger.open(path)
    charged(ledger, "d")
    os.replace(tmp_path / "copy", path)
    with pytest.raises(LedgerBroken, match="replaced"):
        charged(ledger, "e")
    path.with_name(path.name + "-wal").unlink(missing_ok=True)
    with pytest.raises(LedgerBroken, match="rolled back"):
        charged(ledger, "e")


def test_a_copy_without_its_log_is_found(path: Path, tmp_path: Path) -> None:
    """The newest entries of a ledger in use are in the -wal file; a backup that forgets it is an older copy."""
    ledger = SqliteLedger.open(path)
    charged(ledger, "d")
    copy = tmp_path / "copy"
    for suffix in ("", ".head"):
        subprocess.run(["cp", f"{path}{suffix}", f"{copy}{suffix}"], check=True)  # not by this process: its locks
    refuses(copy, "lacks the anchored entry 8")
    subprocess.run(["cp", f"{path}-wal", f"{copy}-wal"], check=True)
    assert verify(copy).head == ledger.head


def test_an_anchor_that_lags_is_no_alarm(path: Path) -> None:
    with SqliteLedger.open(path) as ledger:
        first = ledger.entries()[0]
        anchor = Anchor(path.with_name(path.name + ".head"))
        anchor.create(AnchoredHead(first.number, first.head))
        newest = charged(ledger, "d")
        assert anchor.read() == AnchoredHead(newest.number, newest.head)


def test_a_torn_write_of_the_anchor_leaves_the_line_before(path: Path) -> None:
    anchor = Anchor(path.with_name(path.name + ".head"))
    newest = anchor.read()
    content = anchor.path.read_bytes()
    torn = content.replace(newest.line, newest.line[:40] + b"\0" * (len(newest.line) - 40))
    assert torn != content
    anchor.path.write_bytes(torn)
    assert anchor.read().number == newest.number - 1
    with SqliteLedger.open(path) as ledger:
        charged(ledger, "d")
    assert anchor.read().number == newest.number + 2


@pytest.mark.parametrize("content", [None, b"", b"\0" * 206])
def test_a_lost_anchor_is_an_error_that_says_how_to_go_on(path: Path, content: bytes | None) -> None:
    kept = head_of(path)
    anchor = path.with_name(path.name + ".head")
    anchor.unlink() if content is None else anchor.write_bytes(content)
    refuses(path, "missing|damaged")
    with pytest.raises(LedgerBroken, match="reanchor"):
        SqliteLedger.open(path, kept)
    with pytest.raises(LedgerBroken, match="expected head"):
        SqliteLedger.reanchor(path, "0" * 64, "disk exchanged")
    SqliteLedger.reanchor(path, kept, "disk exchanged").close()
    assert verify(path, kept).entries == 8
    assert SqliteLedger.open(path).balance().certified == 0.375


def test_an_anchor_lost_while_in_use_stops_the_ledger(path: Path) -> None:
    ledger = SqliteLedger.open(path)
    path.with_name(path.name + ".head").unlink()
    with pytest.raises(LedgerBroken, match="is missing"):
        charged(ledger, "d")


def test_a_rolled_back_ledger_is_not_reanchored(path: Path) -> None:
    kept = head_of(path)
    with SqliteLedger.open(path) as ledger:
        charged(ledger, "d")
    edited(path, "delete from result where number > 6", "delete from entry where number > 6")
    with pytest.raises(LedgerBroken, match="lacks the anchored entry"):
        SqliteLedger.reanchor(path, kept, "trust me")


def test_a_full_disk_is_an_error_before_anything_is_handed_out(path: Path) -> None:
    ledger = SqliteLedger.open(path)
    paid = ledger.reserve(PureLoss(0.125), "big", request="big", key="big")
    assert isinstance(paid, Reservation)
    before, file = ledger.head, ledger._book.store
    assert isinstance(file, LedgerFile)
    file._connection().execute("pragma max_page_count = 1")
    with pytest.raises(LedgerError, match="full"):
        ledger.commit(paid, b"x" * 1_000_000)
    assert (ledger.head, ledger.balance().certified) == (before, 0.5)
    file._connection().execute("pragma max_page_count = 1")
    with pytest.raises(LedgerError, match="full"):
        ledger.reserve(PureLoss(0.125), "p" * 100_000, request="more", key="more")
    assert (ledger.head, ledger.balance().certified) == (before, 0.5)
    assert ledger.commit(paid, b"x" * 1_000_000).result == b"x" * 1_000_000
    assert verify(path).dangling == 0


LIMITED = """
import resource, sys
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.core.errors import LedgerError
from discreet.core.events import Event, GaussianLoss, LaplaceLoss, PureLoss, Repeated, Sampled

ledger = SqliteLedger.open(sys.argv[1])
paid = ledger.reserve(PureLoss(0.125), "big", request="big", key="big")
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, resource.RLIM_INFINITY))
try:
    ledger.commit(paid, b"x" * 1_000_000)
except LedgerError as refusal:
    print(refusal)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
print(ledger.verify().dangling, len(ledger.commit(paid, b"x" * 1_000_000).result))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are a thing of Unix")
def test_a_write_that_the_system_cuts_short_leaves_the_ledger_whole(path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED, path], capture_output=True, text=True, check=True)
    said, counted = done.stdout.splitlines()
    assert "cannot be written" in said
    assert "Nothing was handed out" in said
    assert counted == "1 1000000"
    assert verify(path).dangling == 0


def whole_or_broken(path: Path) -> bool:
    """Whether the ledger still works; anything that stops it but `LedgerBroken` is raised."""
    try:
        with SqliteLedger.open(path) as ledger:
            again = ledger.reserve(PureLoss(0.125), "question b", request="b", key="b")
            assert isinstance(again, Committed)
            assert again.result == RESULT
            charged(ledger, "new")
            ledger.verify()
            return str(ledger) != ""
    except LedgerBroken:
        return False


def test_damage_to_header_schema_or_index_is_found_for_what_it_is(path: Path) -> None:
    content = path.read_bytes()
    index = next(m.start() for m in re.finditer(b"commitb", content) if content[m.end() : m.end() + 1] != b"{")
    for place, damage in ((18, b"\x07"), (content.index(b"unique (kind"), b"\xe4"), (index + 6, b"~")):
        path.write_bytes(content[:place] + damage + content[place + len(damage) :])
        assert not whole_or_broken(path)


def test_damaged_anywhere_a_ledger_works_or_is_broken_and_nothing_else(path: Path, tmp_path: Path) -> None:
    chance = random.Random(9)
    for trial in range(300):
        folder = tmp_path / str(trial)
        folder.mkdir()
        copies = [Path(shutil.copy(path.with_name(path.name + end), folder)) for end in ("", ".head")]
        damaged = copies[chance.random() < 0.2]
        content, kind = bytearray(damaged.read_bytes()), chance.randrange(4)
        place, length = chance.randrange(len(content)), chance.choice([1, 8, 100, 4096])
        if kind == 0:
            content[place] ^= 1 << chance.randrange(8)
        elif kind == 1:
            del content[place:]
        else:
            content[place : place + length] = chance.randbytes(length) if kind == 2 else bytes(length)
        damaged.write_bytes(content)
        whole_or_broken(copies[0])
        shutil.rmtree(folder)
