"""A folder with a table, its schema and an account, for commands that give tables away."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.command import main

HOSTILE = "<script>\x1b[2Jalert(1)</script>"
SCHEMA = """
[columns.start]
kind = "number"
lower = 0
upper = 20
step = 1
role = "quasi-identifier"
[columns.end]
kind = "number"
lower = 0
upper = 20
step = 1
[columns.sex]
kind = "category"
values = ["f", "m"]
role = "quasi-identifier"
[columns.ill]
kind = "category"
values = ["flu", "cold"]
role = "sensitive"
"""


def made_folder(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    """Write 400 made-up people, and go there."""
    rows = [f"{n % 10},{n % 10 + n % 3},{'fm'[n % 2]},{('flu', 'cold')[n // 3 % 2]}" for n in range(400)]
    (folder / "people.csv").write_text("\n".join(["start,end,sex,ill", *rows]) + "\n")
    (folder / "s.toml").write_text(SCHEMA)
    patch.chdir(folder)
    assert main(["ledger", "create", "l.ledger", "--schema", "s.toml", "--epsilon", "20", "--delta", "1e-5"]) == 0
    return folder


def charges(ledger: str = "l.ledger") -> int:
    """How many entries an account has."""
    with SqliteLedger.open(ledger) as opened:
        return len(opened.entries())


def refused(capsys: pytest.CaptureFixture[str], *argv: str, code: int = 2, ledger: str = "l.ledger") -> str:
    """The message of a command that must fail with this code, charge nothing and print nothing else."""
    before = charges(ledger)
    capsys.readouterr()
    assert main(argv) == code, argv
    out, err = capsys.readouterr()
    assert (out, charges(ledger)) == ("", before)
    assert "Nothing was released or spent" in err
    assert err.rstrip("\n").isprintable()
    return err
