"""Texts that somebody hostile or careless writes: an answer or a refusal in words, and nothing of them is run."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.query.forecast.expected_error import SELDOM, tried
from discreet.query.forecast.planned_question import planned_question
from discreet.query.forecast.practice import Practice
from discreet.query.forecast.stand_in import Shape
from discreet.query.select.sql import read_sql, sql
from discreet.query.select.sql_text import DEEPEST, LONGEST
from discreet.releases.table import Table
from discreet.trust.private_data import PrivateData

ROWS = 3000
WARDS = ["day", "icu", "er"]
SCHEMA = {"stay": (0, 60), "age": (0, 100), "ward": WARDS, "ill": discreet.Boolean()}


def records() -> dict[str, Any]:
    rng = np.random.default_rng(4)
    wards, ill = [WARDS[i % 3] for i in range(ROWS)], [bool(i % 2) for i in range(ROWS)]
    return {"stay": rng.uniform(0, 60, ROWS), "age": rng.uniform(0, 100, ROWS), "ward": wards, "ill": ill}


def private() -> PrivateData:
    return PrivateData.of(records(), SCHEMA, Budget(1e9, 1e-3))


def allowed(source: random.Random) -> str:
    """A query that is allowed."""
    number = source.choice(["stay", "age", "stay * 24", "age / 2 + stay", "CASE WHEN ill THEN age ELSE stay END"])
    asked = ["count(*)", f"sum({number})", f"avg({number})", f"median({number})", "min(age)", f"stddev({number})"]
    chosen = source.sample([*asked, f"quantile({number}, .9)"], source.randrange(1, 4))
    columns = ", ".join(f"{one} AS c{i}" for i, one in enumerate(chosen))
    where = source.choice(["", "", " WHERE age >= 50", " WHERE ill", " WHERE stay BETWEEN 10 AND 50 AND NOT age < 20"])
    by = source.choice(["", " GROUP BY ward", " GROUP BY ward, ill", " GROUP BY ill"])
    named = f"{by.removeprefix(' GROUP BY ')}, " if by else ""
    many = " HAVING count(*) > 5" if "count(*)" in chosen else ""
    after = source.choice(["", " ORDER BY c0 DESC", " LIMIT 2", many]) if by else ""
    return f"SELECT {named}{columns} FROM visits{where}{by}{after}"


PIECES = [*"()'\"`,;*%\\-$\x00\u202e", "--", "/*", "*/", "''", "$$", "SELECT", "FROM", "WHERE", "NULL", "1e999", "ward"]
PIECES += [
    "OVER ()",
    "UNION",
    "JOIN visits",
    "UNNEST",
    "CAST(age AS TEXT)",
    "{{x}}",
    "\uff07",
    "e\u0301",
    "0x10",
    "::int",
]


def spoilt(source: random.Random, text: str) -> str:
    """The same with some words gone, doubled, exchanged or put in."""
    words = text.split(" ")
    for _ in range(source.randrange(1, 4)):
        place = source.randrange(len(words))
        match source.randrange(4):
            case 0:
                words[place] = ""
            case 1:
                words.insert(place, source.choice(PIECES))
            case 2:
                words[place] += source.choice(PIECES)
            case _:
                words[place] = words[source.randrange(len(words))]
    return " ".join(words)


def answered(seed: int, texts: int) -> int:
    """How many of so many texts have an answer; the others are refused, and cost nothing."""
    source, data, answers = random.Random(seed), private(), 0
    for _ in range(texts):
        text = spoilt(source, allowed(source))
        before = len(data.ledger.entries())
        try:
            sql(data, text, epsilon=1.0, delta=1e-9)
        except DiscreetError as why:
            assert "Nothing was released or spent" in str(why), text  # noqa: PT017
            assert len(data.ledger.entries()) == before, text
        else:
            answers += 1
            assert len(data.ledger.entries()) == before + 1, text
    return answers


def test_a_spoilt_text_has_an_answer_or_a_refusal() -> None:
    assert 3 < answered(0, 150) < 140


@pytest.mark.slow
def test_10000_spoilt_texts_have_an_answer_or_a_refusal() -> None:
    assert 300 < answered(1, 10_000) < 9_500


@dataclass(frozen=True)
class Foretold:
    """An error that was met, over that which is foretold for records of this shape; and how far chance moves it."""

    over: float
    chance: float

    @property
    def apart(self) -> float:
        """How many times one is the other, at least 1."""
        return max(self.over, 1 / self.over)


def foretold(seed: int, queries: int) -> list[Foretold]:
    """Errors of queries about records that are everywhere alike, as one of the shapes is that a plan knows."""
    source, data, found = random.Random(seed), private(), []
    for _ in range(queries):
        text = allowed(source)
        asked = read_sql(data, text, epsilon=1.0)
        every = tried(planned_question(text), Practice(data, ROWS, 0.0), Budget(1.0)).errors
        forecast = {one.what.rpartition(": ")[2]: one for one in every}
        names, met = [one.name for one in asked.asked().series], [_half_widths(asked.asked())]
        while len(met) < 20 or (len(met) < 200 and not _is_sure(met)):
            met.append(_half_widths(asked.asked()))
        for name, own in zip(names, np.mean(met, axis=0).tolist(), strict=True):
            one = forecast.get(name, every[0])
            found.append(Foretold(own / one.errors[[*Shape].index(Shape.APART)], one.chance))
    return found


def farthest(found: list[Foretold]) -> float:
    """How far off the errors are that are foretold worst, beyond two standard deviations of what chance makes."""
    return max(one.apart / (1 + SELDOM * one.chance) for one in found)


def _is_sure(met: list[list[float]]) -> bool:
    """Whether the standard error of each mean is below a few percent of it."""
    return bool(np.all(np.std(met, axis=0) <= 0.02 * len(met) ** 0.5 * np.mean(met, axis=0)))


def _half_widths(table: Table) -> list[float]:
    intervals = [series.interval for series in table.series]
    return [float(np.median(one.high - one.low)) / 2 for one in intervals]


def test_a_plan_foretells_the_error_of_allowed_queries() -> None:
    assert farthest(foretold(0, 5)) <= 1.15


@pytest.mark.slow
def test_a_plan_foretells_the_error_of_200_allowed_queries() -> None:
    found = foretold(1, 200)
    assert farthest(found) <= 1.15
    assert np.mean([one.apart <= 1.15 for one in found]) >= 0.9


def test_what_is_too_long_or_too_deep_is_refused_unread(monkeypatch: pytest.MonkeyPatch) -> None:
    data, deep = private(), "SELECT avg({}stay{}) FROM v"
    read_sql(data, deep.format("(" * 24, ")" * 24))
    read_sql(data, f"SELECT count(*) FROM v -- {'x' * (LONGEST - 26)}")
    monkeypatch.setattr("sqlglot.parse", unreachable)
    monkeypatch.setattr("sqlglot.parse_one", unreachable)
    texts = [
        f"SELECT count(*) FROM v -- {'x' * (LONGEST - 25)}",
        "(" * 10**6,
        "SELECT " + "(" * 3000 + "1" + ")" * 3000,
    ]
    texts += [deep.format("(" * DEEPEST, ")" * DEEPEST), "SELECT " + "CASE WHEN " * 9999, "SELECT " + "NOT " * 4090]
    for text in texts:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            read_sql(data, text)
    assert not data.ledger.entries()


def unreachable(*given: Any, **named: Any) -> Any:
    raise AssertionError("it was read")
