"""The schema editor: what is filled in is a schema file; what is not is asked for, and never made up."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import httpx
import pytest

from discreet.core.errors import SchemaError
from discreet.core.neighbors import Neighbors, Unit
from discreet.query.schema_file import parsed
from discreet.schema.dates import Date
from discreet.schema.schema import Category, Number
from discreet.service.console.schema_draft import MOST_COLUMNS, ColumnDraft, SchemaDraft
from discreet.service.console.sent_form import SentForm
from discreet.service.server.site import Site
from tests.service.console.made_console import HOSTILE, SHOUTED, bare, made_console, posted, read, signed_in

FILLED = {
    "name": "stays",
    "neighbors": "replace",
    "unit": "user",
    "unit-column": "who",
    "unit-rows": "3",
    "count": "4",
    "name-1": "age",
    "kind-1": "number",
    "lower-1": "0",
    "upper-1": "110.5",
    "step-1": "0.5",
    "role-1": "sensitive",
    "name-2": HOSTILE,
    "kind-2": "category",
    "values-2": f"f\r\n\r\n{HOSTILE}\r\n",
    "name-3": "day",
    "kind-3": "date",
    "lower-3": "2020-01-01",
    "upper-3": "2024-12-31",
}


def draft(**other: str) -> SchemaDraft:
    return SchemaDraft.of(SentForm({name: (text,) for name, text in {**FILLED, **other}.items()}))


@pytest.fixture(scope="module")
def cat(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, httpx.Client]]:
    with made_console(tmp_path_factory.mktemp("schema")) as (site, client):
        yield site, signed_in(site, client, "cat")


def test_what_is_filled_in_is_what_the_file_says() -> None:
    found = parsed(draft().toml())
    assert dict(found.schema.columns) == {
        "age": Number(0, 110.5, step=0.5),
        HOSTILE: Category(("f", HOSTILE)),
        "day": Date(date(2020, 1, 1), date(2024, 12, 31)),
    }
    assert (found.neighbors, found.unit) == (Neighbors.REPLACE, Unit("user", column="who", rows=3))
    pooled = parsed(draft(**{"unit-pooled": "yes"}).toml())
    assert pooled.unit == Unit("user", column="who", pooled=True)


@pytest.mark.parametrize("missing", ["kind-1", "lower-1", "upper-1", "values-2", "lower-3", "upper-3"])
def test_what_is_missing_is_asked_for_and_never_made_up(missing: str) -> None:
    with pytest.raises(SchemaError, match=r"not filled in"):
        draft(**{missing: ""}).toml()


@pytest.mark.parametrize(
    ("field", "wrong"),
    [
        ("kind-1", "secret"),
        ("lower-1", "0\nupper = 3"),
        ("lower-1", "nan"),
        ("upper-1", "-3"),
        ("step-1", "often"),
        ("lower-3", "2020"),
        ("lower-3", "[1]"),
        ("neighbors", "anybody"),
        ("unit", "king"),
        ("unit-rows", "-1"),
        ("role-1", "hero"),
    ],
)
def test_what_cannot_be_is_refused(field: str, wrong: str) -> None:
    with pytest.raises(SchemaError):
        parsed(draft(**{field: wrong}).toml())


def test_hostile_names_stay_texts() -> None:
    breaking = 'a"]\n[columns.b]\nkind = "text"\n#'
    found = parsed(draft(**{"name-1": breaking}).toml())
    assert next(iter(found.schema.columns)) == breaking.strip()
    assert len(found.schema.columns) == 3


def test_the_editor_shows_and_keeps_what_was_written(cat: tuple[Site, httpx.Client]) -> None:
    _, browser = cat
    begun = read(browser.get("/schema?names=age,%20sex,,").text)
    assert begun.form("/schema").fields["count"] == "2"
    assert begun.form("/schema").fields["lower-1"] == ""
    shown = posted(browser, "/schema", "/schema", **FILLED, do="show")
    assert shown.status_code == 200
    assert 'kind = "category"' in bare(shown.text)
    assert "[data.stays]" in bare(shown.text)
    assert "<script>alert" not in shown.text
    assert SHOUTED in bare(shown.text)
    more = read(posted(browser, "/schema", "/schema", **FILLED, do="more").text)
    assert more.form("/schema").fields["count"] == "5"
    assert more.form("/schema").fields["name-1"] == "age"
    kept = posted(browser, "/schema", "/schema", **FILLED, do="file")
    assert parsed(kept.text) == parsed(draft().toml())
    assert kept.headers["content-disposition"] == 'attachment; filename="stays.toml"'
    refused = posted(browser, "/schema", "/schema", **{**FILLED, "lower-1": ""}, do="show")
    assert refused.status_code == 422
    assert "lower missing" in read(refused.text).text
    assert read(refused.text).form("/schema").fields["upper-1"] == "110.5"


def test_nothing_is_filled_in_from_the_data(cat: tuple[Site, httpx.Client]) -> None:
    page = read(cat[1].get("/schema?names=age,weight_kg").text)
    filled = {name: text for name, text in page.form("/schema").fields.items() if text and name not in ("csrf", "do")}
    assert filled == {"count": "2", "name-1": "age", "name-2": "weight_kg"}


def test_a_form_has_a_bounded_number_of_columns() -> None:
    assert len(SchemaDraft.of(SentForm({"count": ("100000",)})).columns) == MOST_COLUMNS
    assert len(SchemaDraft.blank(["a"] * MOST_COLUMNS).longer().columns) == MOST_COLUMNS
    assert SchemaDraft.blank([]).columns == (ColumnDraft(),) * 3
