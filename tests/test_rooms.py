"""The map names every room, says what is in it, and is up to date."""

from __future__ import annotations

import ast
import re
import runpy
from pathlib import Path

import pytest

from tests.conformance.walk import rooms

ROOT = Path(__file__).parent.parent
MADE = runpy.run_path(str(ROOT / "docs" / "room_table.py"))
STALE = "The table of rooms is not up to date: run `python docs/room_table.py`."


def test_the_table_names_every_room_once_and_says_what_it_holds() -> None:
    found = [re.fullmatch(r"\| \d+ \| `(\w+)` \| (.+?) \| (.*)\|", row) for row in MADE["rows"]()]
    assert sorted(one[1] for one in found if one) == rooms()
    assert all(one and len(one[2]) > 10 for one in found)


@pytest.mark.parametrize("name", MADE["PAGES"])
def test_every_page_has_the_table_as_it_is_now(name: str) -> None:
    page = (ROOT / name).read_text(encoding="utf-8")
    assert MADE["shown"](page) == page, STALE
    for row in MADE["rows"]():
        assert MADE["shown"](page.replace(row, "")) == page


def test_what_users_import_from_is_on_the_map_and_in_the_reference() -> None:
    public = {path.parent.name for path in (ROOT / "src" / "discreet").rglob("__init__.pyi")} - {"discreet"}
    map_, pages = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("sentence.md", "gen_pages.py"))
    (written,) = re.findall(r"^ROOMS = (\(.*?^\))", pages, flags=re.MULTILINE | re.DOTALL)
    listed = ast.literal_eval(written)
    assert set(listed) == {"discreet", *(f"discreet.{room}" for room in public)}
    assert set(re.findall(r"^\| \[`(discreet[\w.]*)`\]", map_, flags=re.MULTILINE)) == set(listed)


def test_a_page_without_its_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="no table between"):
        MADE["shown"]("# A page")
