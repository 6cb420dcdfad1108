"""The federation as a file: read as it was written, and every mistake is named."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from discreet.core.errors import SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.crypto.certificate import PartyCertificate, to_pem
from discreet.crypto.identity import Identity
from discreet.noise.deterministic import DeterministicBits
from discreet.query.federation_file import read_federation, written_federation, written_schema
from discreet.query.schema_file import SchemaFile, parsed, read_schema
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.federation import Federation

PEOPLE = [Identity.drawn(name, DeterministicBits(i)) for i, name in enumerate(["asker", "north", "east", "west"])]
CARDS = [PartyCertificate.of(one) for one in PEOPLE]
SCHEMA = Schema({"age": Number(0, 120), "town of birth": Category(("Rome", 'Say "x"', "\\")), "note": Text()})


def agreed(**options: object) -> Federation:
    options = {"schema": SCHEMA, "threshold": 3, **options}
    return Federation(tuple(CARDS[1:]), CARDS[0], **options)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"threshold": 2},
        {"colluding": 2},
        {"neighbors": Neighbors.REPLACE},
        {"unit": Unit("user", "note", 7)},
        {"unit": Unit("user", "town of birth", pooled=True)},
        {"schema": Schema.numeric([-1e300, 5e-324], [0.1, 1e17], 2)},
    ],
)
def test_a_federation_is_read_as_it_was_written(options: dict[str, object], tmp_path: Path) -> None:
    path, whole = tmp_path / "f.toml", agreed(**options)
    path.write_text(written_federation(whole), encoding="utf-8")
    again = read_federation(path)
    assert again == whole
    assert again.digest == whole.digest


def test_the_file_is_a_schema_too(tmp_path: Path) -> None:
    """So that a ledger can be opened for it."""
    path = tmp_path / "f.toml"
    path.write_text(written_federation(agreed(unit=Unit("user", "note", 7))), encoding="utf-8")
    assert read_schema(path) == SchemaFile(SCHEMA, Neighbors.ADD_REMOVE, Unit("user", "note", 7))


def test_a_schema_is_read_as_it_was_written() -> None:
    described = SchemaFile(SCHEMA, Neighbors.REPLACE, Unit("user", "note", 7))
    assert parsed(written_schema(described)) == described


def test_the_file_holds_no_secret_even_if_a_card_was_cut_from_one() -> None:
    whole = Federation((PartyCertificate(to_pem(PEOPLE[1])), *CARDS[2:]), CARDS[0], 2, SCHEMA)
    assert "PRIVATE" not in written_federation(whole)


def test_a_file_that_went_through_windows_is_the_same(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_bytes(b"\xef\xbb\xbf" + written_federation(agreed()).replace("\n", "\r\n").encode())
    assert read_federation(path) == agreed()


WHOLE = written_federation(agreed())
MISTAKES: dict[str, tuple[str, str]] = {
    "no table": (written_schema(SchemaFile(SCHEMA)), r"\[federation\] table is missing"),
    "no file": ("", "describes no column"),
    "no TOML": ("[", "not TOML"),
    "unknown key": (WHOLE + "treshold = 3\n", "has other keys"),
    "not a table": ("federation = 3\n" + WHOLE.partition("[federation]")[0], "is missing or has other keys"),
    "no threshold": (WHOLE.replace("threshold = 3\n", ""), "its threshold is missing"),
    "no word on collusion": (WHOLE.replace("colluding = 0\n", ""), "its colluding is missing"),
    "no server": (re.sub(r"server = '''.*?'''\n", "", WHOLE, count=1, flags=re.DOTALL), "its server is missing"),
    "a word": (
        WHOLE.replace("threshold = 3", "threshold = 'three'"),
        "threshold, colluding, largest or sizes is not of the right kind",
    ),
    "a truth": (
        WHOLE.replace("colluding = 0", "colluding = true"),
        "threshold, colluding, largest or sizes is not of the right kind",
    ),
    "a fraction": (
        WHOLE.replace("threshold = 3", "threshold = 2.5"),
        "threshold, colluding, largest or sizes is not of the right",
    ),
    "too low": (WHOLE.replace("threshold = 3", "threshold = 1"), "the threshold is 1 of 3 parties"),
    "too many colluding": (WHOLE.replace("colluding = 0", "colluding = 3"), "3 of 3 parties may collude"),
    "no list": (WHOLE.partition("parties = ")[0] + "parties = 3\n", "its parties is not of the right kind"),
    "a party that is a number": (WHOLE.replace("parties = [", "parties = [7, "), "one of its parties, is not of the"),
    "a party that is no card": (WHOLE.replace("parties = [", "parties = ['north', "), "cannot be read as PEM"),
    "a party twice": (
        WHOLE.replace("parties = [", f"parties = ['''{CARDS[1].certificate.decode()}''', "),
        "have the same name",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_named_with_its_file(mistake: str, tmp_path: Path) -> None:
    text, words = MISTAKES[mistake]
    path = tmp_path / "f.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(SchemaError, match=words) as refused:
        read_federation(path)
    assert str(path) in str(refused.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SchemaError, match=r"nowhere\.toml"):
        read_federation(tmp_path / "nowhere.toml")
