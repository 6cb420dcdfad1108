"""`discreet check`: k, l, t and unique records of a file, by roles alone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from discreet.microdata.anonymity.check_anonymity import check_anonymity
from discreet.service.cli.command import main
from tests.service.cli.tables.table_folder import HOSTILE

ROLES = 'age = "quasi-identifier"\nzip = "quasi-identifier"\npay = "sensitive"\n'
TABLE = "age,zip,pay,other\n31,01234,10,a\n31,1234,9,b\n31,1234,,c\n40,,11,d\n40,,2,e\n"

Out = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "t.csv").write_text(TABLE)
    (tmp_path / "roles.toml").write_text(ROLES)
    monkeypatch.chdir(tmp_path)
    return tmp_path


CHECK = ("check", "t.csv", "--roles", "roles.toml")


def mistaken(capsys: Out, *argv: str) -> str:
    assert main(argv) == 2, argv
    out, err = capsys.readouterr()
    assert out == ""
    assert "Nothing was released or spent" in err
    assert err.rstrip("\n").isprintable()
    return err


def test_figures_are_those_of_the_library(folder: Path, capsys: Out) -> None:
    assert main([*CHECK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    table = {"age": [31, 31, 31, 40, 40], "zip": list("abbcc"), "pay": [10.0, 9.0, None, 11.0, 2.0]}
    roles = {"age": "quasi-identifier", "zip": "quasi-identifier", "pay": "sensitive"}
    assert found == json.loads(check_anonymity(table, roles).to_json())
    assert (found["k"], found["uniques"], found["classes"]) == (1, 1, 3)
    assert found["sensitive"][0]["ordered"] is True
    assert main(CHECK) == 0
    out = capsys.readouterr().out
    assert "NOT PRIVATE" in out
    assert "unique records: 1" in out


def test_all_kinds_of_files_say_the_same(folder: Path, capsys: Out) -> None:
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv("t.csv", dtype={"zip": str})
    frame.to_parquet("t.parquet")
    (folder / "t.csv.gz").write_bytes(gzip.compress(TABLE.encode()))
    (folder / "semi.csv").write_text(TABLE.replace(",", ";"))
    (folder / "quoted.csv").write_text(TABLE.replace("31", '"31"', 1).replace("40", '"40"'))
    header, *lines = TABLE.splitlines()
    (folder / "parts").mkdir()
    for part, own in enumerate((lines[:2], lines[2:])):
        (folder / "parts" / f"{part}.csv").write_text("\n".join([header, *own]))
    said = []
    for more in (
        ("t.csv",),
        ("parts",),
        ("t.parquet",),
        ("t.csv.gz",),
        ("quoted.csv",),
        ("semi.csv", "--delimiter", ";"),
    ):
        assert main(["check", *more, "--roles", "roles.toml", "--json"]) == 0
        said.append(capsys.readouterr().out)
    assert len(set(said)) == 1


def test_a_page_is_written_for_its_owner_alone(folder: Path, capsys: Out) -> None:
    named = HOSTILE.replace("\x1b", "\\u001b")
    (folder / "t.csv").write_text(f"{HOSTILE}\n1\n2\n")
    (folder / "roles.toml").write_text(f'"{named}" = "quasi-identifier"')
    assert main([*CHECK, "--html", "c.html"]) == 0
    assert "\x1b" not in capsys.readouterr().out
    page = (folder / "c.html").read_text()
    assert "NOT PRIVATE" in page
    assert "<script" not in page
    assert "\x1b" not in page
    assert (folder / "c.html").stat().st_mode & 0o077 == 0


def test_columns_that_name_people_are_told(folder: Path, capsys: Out) -> None:
    (folder / "roles.toml").write_text(ROLES + 'other = "identifying"\nabsent = "identifying"\n')
    assert main([*CHECK, "--html", "c.html"]) == 0
    assert "identifying: other: still there" in capsys.readouterr().out
    assert "other: still there" in (folder / "c.html").read_text()
    assert main([*CHECK, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["identifying"] == ["other"]


def test_an_order_that_is_given_is_used(folder: Path, capsys: Out) -> None:
    (folder / "t.csv").write_text("age,pay\n1,a\n1,b\n2,c\n2,d\n")
    (folder / "roles.toml").write_text('age = "quasi-identifier"\npay = "sensitive"')
    found = []
    for more in ((), ("--ordered", "pay")):
        assert main([*CHECK, *more, "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["sensitive"][0]["t"])
    assert found == pytest.approx([1 / 2, 1 / 3])


def test_mistakes_are_named(folder: Path, capsys: Out) -> None:
    assert "absent.csv" in mistaken(capsys, "check", "absent.csv", "--roles", "roles.toml")
    assert "absent.toml" in mistaken(capsys, "check", "t.csv", "--roles", "absent.toml")
    mistaken(capsys, "check", "t.csv")
    for place in ("t.csv", "roles.toml", "/dev/full"):
        mistaken(capsys, *CHECK, "--html", place)
    wrong = {
        'aeg = "quasi-identifier"': "Did you mean 'age'?",
        'age = "known"': "Roles are",
        'age = "sensitive"': "no column is a quasi-identifier",
        "age = ": "not TOML",
        '"<b>\\u001b" = "quasi-identifier"': "there is no column",
    }
    for roles, said in wrong.items():
        (folder / "roles.toml").write_text(roles)
        assert said in mistaken(capsys, *CHECK)
    (folder / "roles.toml").write_text(ROLES)
    (folder / "t.csv").write_text("age,zip,pay\n")
    assert "no records" in mistaken(capsys, *CHECK)
    (folder / "t.csv").write_text("")
    mistaken(capsys, *CHECK)
    (folder / "t.parquet").write_text("not parquet")
    mistaken(capsys, "check", "t.parquet", "--roles", "roles.toml")


def test_rows_that_are_short_or_long_are_records(folder: Path, capsys: Out) -> None:
    (folder / "t.csv").write_text("age,zip,pay\n31\n31\n40,1,2,3,4\n")
    assert main([*CHECK, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["records"], found["classes"], found["uniques"]) == (3, 2, 1)
