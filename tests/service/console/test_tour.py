"""The tour: without a key, on records about nobody, with questions that nobody can wear out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from discreet.service.console.question_choice import STEPS
from discreet.service.console.sent_form import SentForm
from discreet.service.console.tour import BUDGET, CHAPTERS, LAST, PAID, chapter, patients
from tests.service.console.made_console import made_console, read


@pytest.fixture(scope="module")
def anybody(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with made_console(tmp_path_factory.mktemp("tour")) as (_, client):
        yield client


def test_all_chapters_lead_to_the_next_and_the_last_to_the_site(anybody: httpx.Client) -> None:
    path = "/tour"
    for step in range(1, LAST + 1):
        page = read(anybody.get(path).text)
        assert CHAPTERS[step - 1] in page.text
        links = [str(named["href"]) for tag, named in page.tags if tag == "a" and named.get("class") == "button"]
        assert links == [f"/tour/{step + 1}" if step < LAST else "/"]
        path = links[0]


def test_an_answer_is_charged_once_however_often_it_is_looked_at(anybody: httpx.Client) -> None:
    for _ in range(3):
        for price in PAID:
            anybody.get(f"/tour/3?epsilon={price}")
    entries = patients().ledger.entries()
    assert len(entries) == len(PAID)
    assert patients().ledger.balance().certified == pytest.approx(sum(PAID), rel=1e-4)
    assert sum(PAID) <= BUDGET["epsilon"]
    first, again = (re.findall(r"\d\.\d\d", anybody.get("/tour/3?epsilon=0.5").text) for _ in range(2))
    assert first == again
    for other in ("50", "-3", "1e300"):
        assert anybody.get(f"/tour/3?epsilon={other}").status_code == 200
    assert anybody.get("/tour/3?epsilon=nan").status_code == 422
    assert len(patients().ledger.entries()) == len(PAID)


def test_the_slider_shows_smaller_errors_at_higher_prices() -> None:
    errors = [float(chapter(2, SentForm({"step": (str(step),)}))[1]["error"]) for step in (0, 8, 16, STEPS)]
    assert errors == sorted(errors, reverse=True)
    assert chapter(2, SentForm({"step": ("999",)}))[1]["epsilon"] == "10"


def test_it_shows_a_refusal_a_promise_and_a_proof(anybody: httpx.Client) -> None:
    assert "Nothing was released or spent" in read(anybody.get("/tour/4").text).text
    promise = read(anybody.get("/tour/5").text).text
    assert "one record that is added or removed" in promise
    assert "individuals, not patterns" in promise
    proof = read(anybody.get("/tour/6").text).text
    assert all(entry.head[:16] in proof for entry in patients().ledger.entries())


def test_odd_steps_are_the_nearest_chapter(anybody: httpx.Client) -> None:
    assert CHAPTERS[0] in anybody.get("/tour/0").text
    assert CHAPTERS[-1] in anybody.get("/tour/99").text
    assert anybody.get("/tour/x").status_code == 404


def test_nothing_of_the_tour_is_charged_to_the_site(tmp_path: Path) -> None:
    with made_console(tmp_path) as (site, client):
        for step in range(1, LAST + 1):
            client.get(f"/tour/{step}")
        assert site.history(site.file.users["cat"], "patients") == ()
