"""Devices, a leader, a helper and an asker from the command line: the walk of a newcomer, the mistakes, the end."""

from __future__ import annotations

import json
import os
import secrets
import signal
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from discreet.core.errors import UNTOUCHED
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.task_file import read_task
from discreet.service.aggregator.running import listening
from discreet.service.cli.command import main
from discreet.service.cli.parties import aggregate_command
from discreet.trust.aggregation import aggregator_line

Out = pytest.CaptureFixture[str]
SCHEMA = """neighbors = "replace"
[columns.answer]
kind = "category"
values = ["never", "monthly", "daily"]
[columns.age]
kind = "number"
lower = 0
upper = 100
"""
QUESTION = ("--ask", "histogram of answer", "--epsilon", "1")
REPORT = ("aggregate", "report", "s.task")
ASK = ("aggregate", "ask", "s.task")
LONG = 60.0  # seconds: whatever takes longer hangs


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a task, two accounts and a schema; the aggregators have addresses that no other test has."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "s.toml").write_text(SCHEMA)
    assert main(creating("s.task", *places())) == 0
    for name in ("leader", "helper"):
        assert main(["ledger", "create", f"{name}.ledger", "--schema", "s.task", "--epsilon", "1"]) == 0
    return tmp_path


def places() -> tuple[str, str]:
    """Two addresses on this machine that nobody else uses: each of 2^24 is its own."""
    one, two, three = secrets.token_bytes(3)
    return f"http://127.{one}.{two}.{three}:8001", f"http://127.{one}.{two}.{three}:8002"


def creating(path: str, leader: str, helper: str, *more: str) -> list[str]:
    command = ["aggregate", "create", path, "--schema", "s.toml", *QUESTION, "--least", "3"]
    return [*command, "--leader", leader, "--helper", helper, *more]


def refused(capsys: Out, *argv: str, nothing: str = UNTOUCHED, code: int = 2) -> str:
    """The one line of a command that must fail with this code, and print nothing else."""
    capsys.readouterr()
    assert main(list(argv)) == code
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert nothing in err
    return err


def beside(monkeypatch: pytest.MonkeyPatch, act: Callable[[], None], *commands: list[str]) -> None:
    """Run servers, each until the next one has ended, and within the last one this act."""
    left = [*commands]

    def wait() -> None:
        if left:
            assert main(left.pop(0)) == 0
        else:
            act()

    monkeypatch.setattr(aggregate_command, "_wait", wait)
    wait()


def both(*more: str) -> list[list[str]]:
    return [["aggregate", name, "s.task", "--ledger", f"{name}.ledger", *more] for name in ("helper", "leader")]


def test_from_a_task_to_a_sum(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    """Both are stopped and started again in between, and go on where they ended."""
    published = read_task("s.task")

    def report() -> None:
        said = capsys.readouterr().out
        assert f"leader listens at {published.leader}\n" in said
        assert f"helper listens at {published.helper}\n" in said
        for answer in ("daily", "never", ""):
            assert main([*REPORT, f"answer={answer}"]) == 0
        assert "for this question" in refused(capsys, *ASK, "--ask", "count of age", "--epsilon", "1", code=5)
        weak = refused(capsys, *ASK, "--ask", "histogram of answer", "--epsilon", "2", code=5)
        assert "not promised this, but Laplace noise, 1 sensitivities, and it asks Laplace noise, 0.5" in weak

    def ask() -> None:
        assert main([*REPORT, "answer=daily", "--json"]) == 0
        assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"reported": True}
        assert main([*ASK, *QUESTION]) == 0
        text = capsys.readouterr().out
        assert "monthly" in text
        assert "4 reports are in it; 0 failed, and 0 came again" in text
        assert main([*ASK, *QUESTION, "--json"]) == 0
        again = json.loads(capsys.readouterr().out)
        assert again["batch"] == {"accepted": 4, "failed": 0, "repeated": 0}
        assert f"{again['numbers']['count'][0]:.1f}" in text  # the same once more
        assert "takes no more" in refused(capsys, *REPORT, "answer=daily", nothing="Nothing was opened")

    beside(monkeypatch, report, *both())
    assert capsys.readouterr().out.count("stopped; all that was acknowledged is on disk") == 2
    beside(monkeypatch, ask, *both("--json"))
    assert json.loads(capsys.readouterr().out.splitlines()[-1]) == {"stopped": True}
    for name in ("leader", "helper"):
        with SqliteLedger.open(f"{name}.ledger") as ledger:
            assert ledger.balance().remaining < 1e-6


def test_too_few_reports_open_nothing_and_cost_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    def act() -> None:
        assert main([*REPORT, "answer=daily"]) == 0
        few = refused(capsys, *ASK, *QUESTION, nothing="Nothing was opened")
        assert "a batch has at least 3" in few
        assert main([*REPORT, "answer=daily"]) == 0

    beside(monkeypatch, act, *both())
    for name in ("leader", "helper"):
        with SqliteLedger.open(f"{name}.ledger") as ledger:
            assert ledger.balance().remaining == 1.0


def test_a_pair_in_one_command(tmp_path: Path, capsys: Out) -> None:
    """It says where it is, takes what it says it takes, and ends at a signal, which is no failure."""
    (tmp_path / "s.toml").write_text(SCHEMA)
    command = [sys.executable, "-m", "discreet", "aggregate", "--pair", "--schema", str(tmp_path / "s.toml"), *QUESTION]
    command += ["--least", "1", "--folder", str(tmp_path / "pair"), "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            said = json.loads(process.stdout.readline())
            assert main(["aggregate", "report", said["task"], "answer=daily"]) == 0
            assert main(["aggregate", "ask", said["task"], *QUESTION]) == 0
            assert "1 reports are in it" in capsys.readouterr().out
            process.send_signal(signal.SIGTERM)
            out, err = process.communicate(timeout=LONG)
        finally:
            process.kill()
    assert (process.returncode, json.loads(out), err) == (0, {"stopped": True}, "")
    assert sorted(path.name for path in (tmp_path / "pair").iterdir() if path.suffix in (".secret", ".asker")) == [
        "task.toml.asker",
        "task.toml.secret",
    ]


def test_what_a_pair_says_can_be_copied(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    """The lines that it prints are run as they stand, each in place of what it says in capitals."""
    said: list[str] = []

    def copy() -> None:
        said.extend(capsys.readouterr().out.splitlines())
        lines = [line.split()[1:] for line in said if line.startswith("    discreet aggregate")]
        assert [line[1] for line in lines] == ["report", "ask"]
        assert main([word.replace("VALUE", "daily") for word in lines[0]]) == 0
        text = next(line for line in said if line.startswith("    discreet aggregate ask"))
        words = text.split('"')
        assert main([*words[0].split()[1:], words[1], *words[2].split()]) == 0
        assert "1 reports are in it" in capsys.readouterr().out

    command = ["aggregate", "--pair", "--schema", "s.toml", *QUESTION, "--least", "1", "--folder", "pair"]
    beside(monkeypatch, copy, command)
    assert any("could read every report" in line for line in said)
    taken = read_task("pair/task.toml").leader.rpartition(":")[2]
    with listening("127.0.0.1", int(taken)):
        assert f"cannot listen at 127.0.0.1:{taken}" in refused(capsys, *command)
    command[command.index("1")] = "2"
    assert "another task" in refused(capsys, *command)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["answr=daily"], "'answr' is no column and its value"),
        (["answer"], "'answer' is no column and its value"),
        (["answer=daily", "age=30"], "'age' is no column and its value"),
        (["answer=daili"], "answer is 'daili', which would count as missing"),
    ],
)
def test_a_record_that_is_mistyped_is_not_sent(folder: Path, capsys: Out, words: list[str], why: str) -> None:
    """Nobody listens: whatever were sent would fail in another way."""
    said = refused(capsys, *REPORT, *words)
    assert why in said
    assert "Give answer=VALUE (never, monthly, daily)" in said


def test_a_device_takes_part_in_no_promise_that_is_weaker_than_it_says(folder: Path, capsys: Out) -> None:
    weak = refused(capsys, *REPORT, "answer=daily", "--most-epsilon", "0.5", code=5)
    assert "takes part in what promises 0.5 or less" in weak


def test_who_cannot_be_reached_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    monkeypatch.setattr(aggregator_line, "PAUSE", 0.0)
    said = refused(capsys, *REPORT, "answer=daily", nothing="The report was not acknowledged")
    assert f"{read_task('s.task').leader}: it could not be reached" in said
    assert "would count beside it" in said
    assert "could not be reached" in refused(capsys, *ASK, *QUESTION, nothing="Nothing was opened")


def test_a_task_that_was_given_away_is_not_replaced(folder: Path, capsys: Out) -> None:
    before = Path("s.task").read_bytes()
    for path in ("s.task", "s.task.secret", "s.task.asker"):
        assert f"{path} is there already" in refused(capsys, *creating("s.task", *places()))
        Path(path).rename(f"{path}.old")
    assert Path("s.task.old").read_bytes() == before
    assert {stat.S_IMODE(os.stat(f"s.task.{name}.old").st_mode) for name in ("secret", "asker")} == {0o600}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        (["--leader", "http://example.org"], "read by others on the way"),
        (["--helper", "http://127.0.0.1:1"], "one address"),
        (["--days", "0"], "its times make no sense"),
        (["--least", "0"], "the least batch has 0 reports"),
        (["--ask", "nonsense"], "no statistic 'nonsense'"),
        (["--ask", "histogram of height"], "height"),
        (["--epsilon", "0"], "epsilon"),
        (["--schema", "open.toml"], "hides whether a device took part"),
        (["--schema", "unit.toml"], "a device has one record"),
        (["--schema", "none.toml"], "none.toml"),
    ],
)
def test_a_task_that_cannot_be_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out, more: list[str], why: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCHEMA)
    Path("open.toml").write_text(SCHEMA.replace("replace", "add_remove"))
    unit = '[unit]\nkind = "user"\ncolumn = "answer"\nrows = 2\n'
    Path("unit.toml").write_text(SCHEMA.replace("[columns.answer]", unit + "[columns.answer]"))
    command = creating("s.task", "http://127.0.0.1:1", "http://127.0.0.1:2")
    if more[0] in command:
        place = command.index(more[0])
        del command[place : place + 2]
    assert why in refused(capsys, *command, *more)
    assert not list(tmp_path.glob("s.task*"))


def test_a_statistic_of_several_questions_is_no_task_and_costs_nothing(folder: Path, capsys: Out) -> None:
    command = [word.replace("histogram of answer", "trimmed_mean of age") for word in creating("t.task", *places())]
    assert "it asks several questions" in refused(capsys, *command, code=5)
    assert not list(folder.glob("t.task*"))


def test_an_aggregator_that_cannot_start_says_why(folder: Path, capsys: Out) -> None:
    leader = both()[1]
    assert "there is no such file" in refused(capsys, *leader[:-1], "none.ledger", code=4)
    assert "there is no certificate" in refused(capsys, *leader, "--listen", "0.0.0.0:0")
    assert "--listen is nowhere" in refused(capsys, *leader, "--listen", "nowhere")
    assert "certificate goes with its key" in refused(capsys, *leader, "--certificate", "c.pem")
    host, _, port = read_task("s.task").leader.removeprefix("http://").rpartition(":")
    with listening(host, int(port)):
        assert f"cannot listen at {host}:{port}" in refused(capsys, *leader)
    assert main(creating("far.task", "https://a.example", "https://b.example")) == 0
    assert "Give --listen" in refused(capsys, "aggregate", "leader", "far.task", "--ledger", "leader.ledger")
    Path("s.task.secret").write_bytes(Path("far.task.secret").read_bytes())
    assert "of another task" in refused(capsys, *leader)
    Path("s.task.secret").chmod(0o644)
    assert "others on this machine can read it" in refused(capsys, *leader)


def test_there_is_always_an_action(capsys: Out) -> None:
    assert "there is no action" in refused(capsys, "aggregate")
    assert "--schema is missing" in refused(capsys, "aggregate", "--pair")
