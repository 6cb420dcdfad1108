"""What the README shows works as it stands."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from discreet.service.cli.command import main

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_the_first_lines_run_as_they_stand_and_run_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    lines, plan, _ = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in lines.splitlines() if line.strip()]) <= 15
    for _ in range(2):
        made: dict[str, object] = {}
        exec(compile(lines, "README.md", "exec"), made)
        printed = capsys.readouterr().out
        assert "mean of age: " in printed
        assert "one record" in printed
    exec(compile(plan, "README.md", "exec"), made)
    assert "counts of department" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == []


def test_an_account_of_ones_own_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["sample"]) == 0
    *_, lines = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    made: dict[str, object] = {}
    exec(compile(lines, "README.md", "exec"), made)
    assert repr(made["patients"]).startswith("PrivateData(age, stay_days, sex")


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    section = README.partition("## A report from the command line")[2].partition("##")[0]
    lines = [line for line in section.splitlines() if line.startswith("discreet ")]
    commands = [shlex.split(line.partition("#")[0])[1:] for line in lines]
    assert len(commands) >= 5
    for command in commands:
        assert main(command) == 0
    assert (tmp_path / "report.html").is_file()
    assert "report on patients.csv" in capsys.readouterr().out
