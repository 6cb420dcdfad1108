"""What notebooks show is whole, escaped, and fits any width and either colour scheme."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.display.notebook import STYLE, carded, facts, folded, grid
from discreet.query.report import profile
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData

EMPTY = {"meta", "br", "input", "line", "rect", "path", "circle"}


class Tags(HTMLParser):
    """Holds that every tag that is opened is closed, in order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in EMPTY:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in EMPTY:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def read(page: str) -> str:
    tags = Tags()
    tags.feed(page)
    assert tags.open == []
    return tags.text


def test_parts_are_escaped_and_whole() -> None:
    page = carded(facts({"<b>": "x\x1b"}), grid("<i>", ("<u>",), [("<s>", "1")]), folded("<a>", "<p>kept</p>"))
    assert all(tag not in page for tag in ("<b>", "<i>", "<u>", "<s>", "<a>", "\x1b"))
    assert "kept" in read(page)


def test_everything_that_users_meet_shows_itself() -> None:
    patients = discreet.sample(epsilon=20.0, delta=1e-3)
    model = discreet.learners.KMeans(2, columns=["age"], epsilon=1.0).fit(patients)
    count = discreet.count(patients, "sex", epsilon=1.0)
    every: tuple[tuple[Any, str], ...] = (
        (patients.schema, "age"),
        (patients, "account"),
        (count, "count of sex"),
        (count.receipt, "secret, from the operating system"),
        (discreet.histogram(patients, "department", epsilon=1.0), "surgery"),
        (discreet.mean(patients, "age", epsilon=1.0), "mean of age"),
        (discreet.plan(patients, "mean of age", n=100, epsilon=1.0), "expected error"),
        (patients.ledger, "count of sex"),
        (patients.ledger.balance(), "left"),
        (patients.where("age >= 50"), "age >= 50"),
        (discreet.median(patients, "age", by="sex", epsilon=1.0), "median of age by sex"),
        (discreet.distribution(patients, "age", epsilon=1.0), "share below"),
        (discreet.correlation(patients, epsilon=1.0), "correlation"),
        (discreet.t_test(patients, "age", 40, epsilon=1.0), "rejected"),
        (profile(patients, Budget(1.0, 1e-6)), "Privacy card"),
        (model, "KMeans"),
    )
    for shown, words in every:
        page = shown._repr_html_()
        assert words in read(page), type(shown)
        assert "prefers-color-scheme: dark" in page or "color: inherit" in page, type(shown)
    assert model.receipt_.cost in read(model._repr_html_())


def test_no_width_is_fixed_and_tables_scroll_rather_than_break_words() -> None:
    assert not re.search(r"[^-]width: *\d+(px|em)", STYLE)
    assert "overflow-x: auto" in STYLE
    assert "break-word" in STYLE
    assert not re.search(r"color: *(#000|black|white|#fff)|background: *#", STYLE)  # colours of the page


def test_a_long_list_of_categories_is_cut() -> None:
    schema = Schema({"code": Category(tuple(f"c{i}" for i in range(500))), "x": Number(0, 1)})
    page = read(schema._repr_html_())
    assert "and 488 more" in page
    assert "c400" not in page
    assert "0 to 1" in page


def test_a_data_set_shows_nothing_of_its_records(monkeypatch: pytest.MonkeyPatch) -> None:
    data = PrivateData.of(np.full((7, 1), 0.123456), Schema.numeric(0, 1, 1), Budget(1.0))
    monkeypatch.setattr(type(data._trust), "units", property(lambda self: pytest.fail("records were counted")))
    assert "0.123456" not in data._repr_html_()
