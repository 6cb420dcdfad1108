"""Secure sums from the command line, as a newcomer meets them: the walk, the mistakes, the end."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
import subprocess
import sys
import threading
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from discreet.core.errors import UNTOUCHED
from discreet.crypto.certificate import PartyCertificate
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.query.federation_file import read_federation
from discreet.questions.columns.total import count_of
from discreet.questions.tables.contingency import contingency_of
from discreet.service.cli.command import main
from discreet.service.cli.parties import party_command
from discreet.service.key_file import read_identity
from discreet.trust.secure_sum import OtherSurvivors, SecureSum

Out = pytest.CaptureFixture[str]
SCHEMA = '[columns.age]\nkind = "number"\nlower = 0\nupper = 100\n'
NAMES = ("asker", "north", "east", "west")
FEDERATION: tuple[str, ...] = ("federation", "create", "--schema", "s.toml", "--server", "asker.card")
FEDERATION += ("--threshold", "2", "--colluding", "0", "--out", "f.toml")
PARTY = ("party", "north.csv", "--federation", "f.toml", "--identity", "north.key", "--ledger", "north.ledger")
LONG = 60.0  # seconds: whatever takes longer hangs


def cards(*names: str) -> list[str]:
    return [word for name in names for word in ("--party", f"{name}.card")]


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which everybody has walked up to the last step."""
    folder = tmp_path_factory.mktemp("walk")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        Path("s.toml").write_text(SCHEMA)
        for name in NAMES:
            assert main(["identity", name, "--out", f"{name}.key", "--card", f"{name}.card"]) == 0
        assert main([*FEDERATION, *cards(*NAMES[1:])]) == 0
        for i, name in enumerate(NAMES[1:]):
            Path(f"{name}.csv").write_text("age\n" + "50\n" * (16 << i))
            create = ["ledger", "create", f"{name}.ledger", "--schema", "f.toml", "--epsilon", "1000"]
            assert main([*create, "--delta", "1e-6"]) == 0
    return folder


@pytest.fixture
def folder(walked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of that folder, to spoil."""
    shutil.copytree(walked, tmp_path / "copy")
    monkeypatch.chdir(tmp_path / "copy")
    return tmp_path / "copy"


def latest(argv: tuple[str, ...]) -> list[str]:
    """A command line in which the last of several values of an option that takes one is left."""
    found = list(argv)
    for place in range(len(argv) - 2, 0, -1):
        option = argv[place]
        if option.startswith("--") and option not in ("--party", "--listen", "--size") and option in argv[place + 1 :]:
            del found[place : place + 2]
    return found


def refused(capsys: Out, *argv: str, code: int = 2) -> str:
    """The one line of a command that must fail with this code, and print nothing else."""
    capsys.readouterr()
    assert main(latest(argv)) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert code == 4 or UNTOUCHED in err
    return err


class Running:
    """A process that runs `discreet party`, and what it has printed."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self._said: list[str] = []
        self._news = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def says(self, words: str) -> str:
        """Wait for a line with these words."""
        with self._news:
            found = self._news.wait_for(lambda: [line for line in self._said if words in line], LONG)
        assert found, self._said
        return found[0].strip()

    def ends(self, number: int) -> int:
        """The exit code after this signal."""
        self.process.send_signal(number)
        return self.process.wait(LONG)

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        self._reader.join()
        assert self.process.stdout is not None
        self.process.stdout.close()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self._said.append(line)
                self._news.notify_all()
        with self._news:
            self._said.append("(end)")
            self._news.notify_all()


@contextmanager
def running(name: str, *where: str) -> Iterator[Running]:
    command = [sys.executable, "-m", "discreet", "party", f"{name}.csv", "--federation", "f.toml"]
    command += ["--identity", f"{name}.key", "--ledger", f"{name}.ledger", *where]
    one = Running(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    try:
        yield one
    finally:
        one.close()


def test_from_four_keys_to_a_sum(folder: Path) -> None:
    """Two parties listen, one calls; all are stopped in the middle of a conversation, and that is no failure."""
    agreed = read_federation("f.toml")
    with (
        running("north", "--listen", "127.0.0.1:0") as north,
        running("east", "--listen", "127.0.0.1:0") as east,
    ):
        addresses = [one.says("listens at").rpartition(" ")[2] for one in (north, east)]
        assert agreed.digest.hex() in north.says("digest")
        with (
            SecureSum(agreed, read_identity("asker.key"), addresses, listen="127.0.0.1:0") as trust,
            running("west", "--connect", str(trust.address)) as west,
        ):
            total = trust.ask(count_of(agreed.schema, "age"), Gaussian(0.25))
            assert np.rint(total[0] / 8) * 8 == 16 + 32 + 64
            assert west.says("takes part") == f"west takes part: {purpose('west.ledger')}"
            assert [north.ends(signal.SIGTERM), east.ends(signal.SIGINT), west.ends(signal.SIGTERM)] == [0, 0, 0]
            for one in (north, east, west):
                one.says("(end)")
                assert not any("Traceback" in line or "Exception" in line for line in one._said)


def test_a_party_answers_what_its_owner_allows(folder: Path) -> None:
    """North allows counts alone, east what costs at most 1: asked for a histogram, or for much, they refuse."""
    agreed = read_federation("f.toml")
    count = count_of(agreed.schema, "age")
    assert count.recipe is not None
    with (
        running("north", "--listen", "127.0.0.1:0", "--allow", count.recipe.name) as north,
        running("east", "--listen", "127.0.0.1:0", "--most-epsilon", "1", "--most-delta", "1e-6") as east,
        running("west", "--listen", "127.0.0.1:0") as west,
    ):
        addresses = [one.says("listens at").rpartition(" ")[2] for one in (north, east, west)]
        with SecureSum(agreed, read_identity("asker.key"), addresses) as trust:
            assert trust.ask(count, Gaussian(5.0)).shape == (1,)
            with pytest.warns(OtherSurvivors, match="shows the noisy sum of east alone"):
                trust.ask(count, Gaussian(0.25))
            east.says("refuses: count: it would cost epsilon")
            with pytest.warns(OtherSurvivors, match="east, north"):
                trust.ask(contingency_of(agreed.schema, ("age",), (4,)), Gaussian(5.0))
            north.says("the party's policy does not allow it")
    with SqliteLedger.open("west.ledger") as ledger:
        assert len(ledger.entries()) == 3
    for name in ("north", "east"):
        with SqliteLedger.open(f"{name}.ledger") as ledger:
            assert len(ledger.entries()) == 2


def purpose(path: str) -> str:
    with SqliteLedger.open(path) as ledger:
        (entry,) = ledger.entries()
    return entry.purpose


def test_a_party_waits_for_a_server_that_is_not_there_yet(folder: Path) -> None:
    with running("north", "--connect", "no-such-host.invalid:7000") as north:
        north.says("north: nobody of the federation answers at no-such-host.invalid:7000")
        assert north.ends(signal.SIGTERM) == 0


def test_a_key_is_its_owners_alone_and_a_card_holds_no_secret(folder: Path) -> None:
    if os.name == "posix":
        assert (folder / "north.key").stat().st_mode & 0o777 == 0o600
    assert b"PRIVATE" not in (folder / "north.card").read_bytes()
    assert PartyCertificate((folder / "north.card").read_bytes()) == PartyCertificate.of(read_identity("north.key"))


def test_what_is_printed_says_what_to_do_next(tmp_path: Path, capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCHEMA)
    for name in NAMES:
        assert main(["identity", name, "--out", f"{name}.key", "--card", f"{name}.card"]) == 0
        assert capsys.readouterr().out == f"Wrote {name}.key: keep it secret. Hand out {name}.card.\n"
    assert main([*FEDERATION, *cards(*NAMES[1:])]) == 0
    out = capsys.readouterr().out
    assert "Wrote f.toml: give it to north, east, west." in out
    assert f"digest {read_federation('f.toml').digest.hex()}: let everybody compare it" in out


def test_a_key_is_never_overwritten(folder: Path, capsys: Out) -> None:
    before = {name: (folder / name).read_bytes() for name in ("north.key", "east.card")}
    message = refused(capsys, "identity", "north", "--out", "north.key", "--card", "east.card")
    assert "File exists" in message
    assert {name: (folder / name).read_bytes() for name in before} == before
    assert "needed as it is" in refused(capsys, "identity", "new", "--out", "new.key", "--card", "new.key")
    assert not (folder / "new.key").exists()


IDENTITY_MISTAKES = {
    "a name of two lines": (("a\nb",), "cannot be printed"),
    "a long name": (("x" * 70,), "64 bytes at most"),
    "no name": (("",), "empty"),
    "no such folder": (("new", "--out", "nowhere/new.key"), "No such file"),
}


@pytest.mark.parametrize("mistake", IDENTITY_MISTAKES)
def test_a_mistake_about_an_identity_is_one_line(mistake: str, folder: Path, capsys: Out) -> None:
    argv, words = IDENTITY_MISTAKES[mistake]
    before = sorted(os.listdir(folder))
    assert words in refused(capsys, "identity", "--out", "new.key", "--card", "new.card", *argv)
    assert sorted(os.listdir(folder)) == before


def test_how_many_may_collude_must_be_said(folder: Path, capsys: Out) -> None:
    """It decides how much noise protects everybody: there is no silent zero."""
    place = FEDERATION.index("--colluding")
    silent = [*FEDERATION[:place], *FEDERATION[place + 2 :], *cards(*NAMES[1:])]
    assert "the following arguments are required: --colluding" in refused(capsys, *silent)
    for wrong, words in (("", "invalid int"), ("some", "invalid int"), ("-1", "-1 of 3 parties may collude")):
        assert words in refused(capsys, *silent, f"--colluding={wrong}")


def test_a_federation_is_shown_with_its_members_and_its_digest(folder: Path, capsys: Out) -> None:
    assert main(["federation", "show", "f.toml"]) == 0
    out = capsys.readouterr().out
    for kind, name in zip(("server", "party", "party", "party"), NAMES, strict=True):
        assert f"{kind} {name}: key {read_identity(f'{name}.key').public.hex()}\n" in out
    assert "threshold: 2 of 3 parties; colluding: 0\n" in out
    assert "age: Number" in out
    assert out.endswith(f"digest {read_federation('f.toml').digest.hex()}\n")
    assert "s.toml" in refused(capsys, "federation", "show", "s.toml")


def test_sizes_and_limits_are_in_the_file_and_shown(folder: Path, capsys: Out) -> None:
    (folder / "f.toml").unlink()
    sizes = [word for size in ("5", "6", "7") for word in ("--size", size)]
    assert main([*FEDERATION, *cards(*NAMES[1:]), *sizes, "--largest", "100"]) == 0
    agreed = read_federation("f.toml")
    assert (agreed.sizes, agreed.largest, agreed.fewest_units) == ((5, 6, 7), 100, 11)
    capsys.readouterr()
    assert main(["federation", "show", "f.toml"]) == 0
    out = capsys.readouterr().out
    assert "sizes: at least 5, 6, 7 units, as stated\n" in out
    assert "largest: no party has more than 100 units\n" in out
    assert "over 11 units" in refused(capsys, *PARTY, "--listen", "127.0.0.1:0", "--least-units", "12", code=5)


def test_a_party_refuses_a_federation_with_another_digest(folder: Path, capsys: Out) -> None:
    true = read_federation("f.toml").digest.hex()
    where = ("--listen", "203.0.113.7:7000")
    for wrong in (true[:-1] + ("0" if true[-1] != "0" else "1"), true[:16], "", "\x1b[2J"):
        message = refused(capsys, *PARTY, *where, "--digest", wrong)
        assert f"its digest is {true}, not" in message
    for right in (true, true.upper(), f" {true}\n"):  # goes on, to the next mistake
        assert "Choose another address" in refused(capsys, *PARTY, *where, "--digest", right)


FEDERATION_MISTAKES = {
    "a key for a card": ([*cards("north", "east"), "--party", "west.key"], "holds a secret key"),
    "the server's key": ([*cards("north", "east", "west"), "--server", "asker.key"], "holds a secret key"),
    "no such card": (cards("north", "east", "south"), "No such file"),
    "not a card": ([*cards("north", "east"), "--party", "s.toml"], "cannot be read as PEM"),
    "somebody twice": (cards("north", "east", "north"), "have the same name"),
    "the asker as a party": (cards("north", "east", "asker"), "have the same name"),
    "one party": (cards("north"), "more than half"),
    "too few": ([*cards("north", "east", "west"), "--threshold", "1"], "more than half"),
    "too many": ([*cards("north", "east", "west"), "--threshold", "4"], "more than half"),
    "too many colluding": ([*cards("north", "east", "west"), "--colluding", "2"], "raise the threshold"),
    "no such schema": ([*cards("north", "east", "west"), "--schema", "t.toml"], "t.toml"),
    "too few sizes": ([*cards("north", "east", "west"), "--size", "5"], "1 sizes for 3 parties"),
    "over a card": ([*cards("north", "east", "west"), "--out", "west.card"], "needed as it is"),
}


@pytest.mark.parametrize("mistake", FEDERATION_MISTAKES)
def test_a_mistake_about_a_federation_is_one_line(mistake: str, folder: Path, capsys: Out) -> None:
    argv, words = FEDERATION_MISTAKES[mistake]
    (folder / "f.toml").unlink()
    before = {path: path.read_bytes() for path in folder.iterdir()}
    assert words in refused(capsys, *FEDERATION, *argv)
    assert {path: path.read_bytes() for path in folder.iterdir()} == before


PARTY_MISTAKES: dict[str, tuple[list[str], str, int]] = {
    "no address": ([], "--listen", 2),
    "two addresses": (["--listen", "127.0.0.1:0", "--connect", "127.0.0.1:1"], "not allowed with", 2),
    "no port": (["--listen", "127.0.0.1"], "Write host:port", 2),
    "no port to call": (["--connect", "here"], "Write host:port", 2),
    "not this machine": (["--listen", "203.0.113.7:7000"], "Choose another address", 2),
    "no such host to listen at": (["--listen", "no-such-host.invalid:7000"], "Choose another address", 2),
    "the asker's identity": (["--identity", "asker.key"], "'asker' is not in the federation", 2),
    "a card for an identity": (["--identity", "north.card"], "no private key in the file", 2),
    "no such identity": (["--identity", "south.key"], "south.key", 2),
    "no such federation": (["--federation", "g.toml"], "g.toml", 2),
    "a schema for a federation": (["--federation", "s.toml"], "[federation] table is missing", 2),
    "no such ledger": (["--ledger", "south.ledger"], "south.ledger", 4),
    "an analyst whom the ledger does not know": (["--analyst", "ann"], "ann", 5),
    "no price at all": (["--most-epsilon", "0"], "positive, finite epsilon", 2),
    "a price that is none": (["--most-epsilon", "much"], "invalid float value", 2),
    "half a price": (["--most-delta", "1e-6"], "Give --most-epsilon", 2),
    "more parties than the threshold": (["--least-parties", "3"], "over 2 parties, and the party's policy asks", 5),
    "units that nobody states": (["--least-units", "10"], "no sizes are stated", 5),
    "no sets": (["--most-sets", "0"], "policy", 2),
    "no day": (["--most-daily", "0"], "policy", 2),
    "another scheme": (["--scheme", "odo"], "opens sums by scheme 'masks', not 'odo'", 2),
    "no such scheme": (["--scheme", "masked"], "there is no scheme 'masked'", 2),
    "a key for a ledger": (["--ledger", "north.key"], "north.key", 4),
}


@pytest.mark.parametrize("mistake", PARTY_MISTAKES)
def test_a_mistake_about_a_party_is_one_line(mistake: str, folder: Path, capsys: Out) -> None:
    argv, words, code = PARTY_MISTAKES[mistake]
    where = [] if "--listen" in argv or "--connect" in argv or not argv else ["--listen", "127.0.0.1:0"]
    assert words in refused(capsys, *PARTY, *where, *argv, code=code)


def test_a_port_in_use_is_one_line(folder: Path, capsys: Out) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        assert f"{address} cannot be used" in refused(capsys, *PARTY, "--listen", address)


def test_another_federations_key_of_the_same_name_is_one_line(folder: Path, capsys: Out) -> None:
    assert main(["identity", "north", "--out", "other.key", "--card", "other.card"]) == 0
    assert "another key for 'north'" in refused(capsys, *PARTY, "--listen", "127.0.0.1:0", "--identity", "other.key")


def test_a_table_that_is_not_there_or_lacks_a_column_is_one_line(folder: Path, capsys: Out) -> None:
    argv = [*PARTY, "--listen", "127.0.0.1:0"]
    (folder / "north.csv").write_text("height\n180\n")
    assert "age" in refused(capsys, *argv)
    (folder / "north.csv").unlink()
    assert "north.csv" in refused(capsys, *argv)


def test_a_ledger_for_another_unit_is_one_line(folder: Path, capsys: Out) -> None:
    (folder / "r.toml").write_text('neighbors = "replace"\n' + SCHEMA)
    assert main(["ledger", "create", "r.ledger", "--schema", "r.toml", "--epsilon", "1"]) == 0
    assert "another relation or unit" in refused(capsys, *PARTY, "--listen", "127.0.0.1:0", "--ledger", "r.ledger")


def test_where_the_loop_takes_no_signals_an_interrupt_ends_a_party_well(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on Windows, where Control-C interrupts the main thread."""
    if threading.current_thread() is not threading.main_thread():
        pytest.skip("signals reach the main thread only")

    def unable(*_: object) -> None:
        raise NotImplementedError

    ended: list[bool] = []

    async def work() -> None:
        asyncio.get_running_loop().call_soon(signal.raise_signal, signal.SIGINT)
        try:
            await asyncio.sleep(LONG)
        finally:
            ended.append(True)

    monkeypatch.setattr(asyncio.SelectorEventLoop, "add_signal_handler", unable)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        asyncio.run(party_command.until_stopped(work()))
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended == [True]


def test_a_failure_of_the_work_is_not_hidden() -> None:
    async def work() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        asyncio.run(party_command.until_stopped(work()))


def test_a_party_goes_on_when_nobody_reads_what_it_prints(monkeypatch: pytest.MonkeyPatch) -> None:
    def closed(*_: object, **__: object) -> None:
        raise BrokenPipeError

    monkeypatch.setattr("builtins.print", closed)
    party_command.tell(Namespace(json=False), "north takes part")
