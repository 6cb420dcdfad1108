"""What the README shows works as it stands."""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from pathlib import Path

import pytest

from discreet.service.cli import main

README = (Path(__file__).parent.parent / "README.md").read_text()
SAMPLE = Path(str(files("discreet.query") / "sample"))


def test_the_example_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(SAMPLE / "patients.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    (code,) = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len([line for line in code.splitlines() if line.strip()]) <= 15
    exec(compile(code, "README.md", "exec"), {})
    printed = capsys.readouterr().out
    assert "mean of age: " in printed
    assert "one record" in printed


def test_the_commands_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copy(SAMPLE / "patients.csv", tmp_path)
    monkeypatch.chdir(tmp_path)
    section = README.partition("## A report from the command line")[2].partition("##")[0]
    commands = [line.partition("#")[0].split()[1:] for line in section.splitlines() if line.startswith("discreet ")]
    assert len(commands) == 4
    for command in commands:
        assert main(command) == 0
        if command[0] == "schema":
            shutil.copy(SAMPLE / "patients.toml", tmp_path)  # filled in
    assert (tmp_path / "report.html").is_file()
    assert "report on patients.csv" in capsys.readouterr().out
