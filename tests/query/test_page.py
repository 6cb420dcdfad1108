"""The page: one file, no script, nothing from a network, everything escaped."""

from __future__ import annotations

import base64
import hashlib
import re
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors, Unit
from discreet.display.document import STYLE, source_of
from discreet.query.report import Report, profile
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData
from tests.query.tables import BUDGET, private, rows, written

HOSTILE = "<script>alert('x')</script>\"'&\x1b[2J\u202e"
VOID = {"meta", "link", "br", "img", "hr", "input"}


class Tags(HTMLParser):
    """All tags and attributes of a page; complains where they do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def whole(self) -> bool:
        """Whether everything that was opened was closed."""
        return not self._open


def read(text: str) -> Tags:
    tags = Tags()
    tags.feed(text)
    tags.close()
    assert tags.whole()
    return tags


@pytest.fixture(scope="module")
def hostile() -> Report:
    frame = {HOSTILE: np.full(900, 3.0), "c": ["a"] * 900, "t": [HOSTILE] * 900}
    schema = Schema({HOSTILE: Number(0, 9), "c": Category(("a", HOSTILE)), "t": Text()})
    return profile(private(frame, schema), BUDGET, title=HOSTILE)


def test_no_name_and_no_value_becomes_markup(hostile: Report) -> None:
    for text in (hostile.to_html(), hostile._repr_html_()):
        tags = read(text)
        assert "script" not in {tag for tag, _ in tags.found}
        assert "<script" not in text
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert sum("alert('x')" in words for words in tags.words) >= 5  # title, heading, column, category, value


def test_nothing_is_loaded_and_nothing_runs(hostile: Report) -> None:
    tags = read(hostile.to_html())
    for tag, attributes in tags.found:
        assert tag not in {"script", "link", "img", "iframe", "object", "embed", "base", "form", "a"}
        assert not any(name.startswith("on") or name in ("src", "href", "action") for name in attributes)
    assert not re.search(r"url\(|@import|https?:", hostile.to_html())
    policy = [a["content"] for _, a in tags.found if a.get("http-equiv") == "Content-Security-Policy"]
    assert policy == [f"default-src 'none'; style-src {source_of(STYLE)}"]


def test_the_policy_lets_through_the_one_sheet_alone(hostile: Report) -> None:
    text = hostile.to_html()
    sheets = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(sheets[0].encode()).digest()).decode()
    assert len(sheets) == 1
    assert f"style-src 'sha256-{digest}'" in text
    assert not any("style" in attributes for _, attributes in read(text).found)  # no attribute passes such a policy
    assert len(re.findall("<style>", hostile._repr_html_())) == 1


def test_the_privacy_card_says_what_is_promised_and_what_is_not(hostile: Report) -> None:
    words = "".join("".join(read(hostile.to_html()).words).split())
    for part in (
        "Privacy card",
        "one record",
        "added or removed",
        "(1, 1e-06)-differential privacy",
        "sensitivities",
        "from 0 to 9",
        "Taken from the schema, not from the data",
        "What is not protected",
        f"discreet {hostile.version}",
        hostile.receipt.key,
        hostile.receipt.head,
    ):
        assert "".join(part.split()) in words


def test_noise_that_can_be_replayed_is_called_not_private(hostile: Report) -> None:
    assert "Not private." in hostile.to_html()


def test_secret_noise_is_not(tmp_path: Path) -> None:
    from tests.query.tables import SCHEMA

    data = PrivateData.of(written(tmp_path / "t.csv", rows(20)), SCHEMA, BUDGET)
    page = profile(data, BUDGET).to_html()
    assert "Not private." not in page
    assert "secret, from the operating system" in page


def test_users_and_public_counts_are_told() -> None:
    frame = {"age": np.full(40, 30.0), "who": [str(i // 2) for i in range(40)]}
    data = private(
        frame,
        Schema({"age": Number(0, 100)}),
        Budget(1.0),
        neighbors=Neighbors.REPLACE,
        unit=Unit("user", "who", 2),
    )
    words = " ".join(read(profile(data, Budget(1.0)).to_html()).words)
    assert "one user (identified by 'who', at most 2 rows of each)" in words
    assert "is public" in words


def test_what_became_of_missing_values_is_told(hostile: Report) -> None:
    middle = "count as the middle of their bounds"
    frame, schema = {"age": [30.0, np.nan]}, Schema({"age": Number(0, 100)})
    public = profile(private(frame, schema, Budget(1.0), neighbors=Neighbors.REPLACE), Budget(1.0))
    assert middle in public.to_html()
    assert middle not in hostile.to_html()


def test_many_values_are_folded_away_but_all_there() -> None:
    names = [f"town{i:02d}" for i in range(30)]
    data = private({"t": names * 400}, Schema({"t": Text()}), Budget(8.0, 1e-3))
    page = profile(data, Budget(8.0, 1e-3)).to_html()
    assert all(name in page for name in names)
    assert "10 more" in page


def test_bars_have_error_bars(hostile: Report) -> None:
    tags = read(hostile.to_html())
    bars = sum(tag == "rect" for tag, _ in tags.found)
    assert bars == sum(len(column.bars) for column in hostile.columns)
    assert sum(tag == "line" and a.get("class") == "error" for tag, a in tags.found) == bars


def test_words_are_not_broken_on_a_phone() -> None:
    """Only keys and code have words without end; `tests/look` measures that nothing else is broken."""
    rules = [rule.split("{")[0].strip() for rule in STYLE.split("}") if "anywhere" in rule or "break-all" in rule]
    assert rules == [".discreet-report code", ".discreet-report .promise td"]
