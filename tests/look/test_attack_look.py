"""The page of attacks in a browser: light and dark, wide and as narrow as a phone, with nothing from elsewhere."""

from __future__ import annotations

import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier

from discreet.attacks import MembershipData, ModelMaterial, attacked
from discreet.core.events import PureLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from tests.look.browser import PLACE, opened
from tests.look.test_look import FAULTS, SHARE, difference, small

KEPT = Path(__file__).parent / "kept"
WIDE, PHONE, HEIGHT = 1100, 360, 800
FIRST = {"x": 0, "y": 0, "height": 2 * HEIGHT}  # the part of the page of which pictures are kept
HYPHEN = re.compile(r'^"[^"\d]*-[^"]*" is broken$')  # words may be, at their hyphens
PICTURES = {("light", WIDE): "attacks-light.png", ("dark", PHONE): "attacks-dark.png"}
SECONDS = re.compile(r"(<td>[\d.]+</td>)?<td>[\d.e-]+</td>(?=<td>[\d,]+</td></tr>)")

missing = importlib.util.find_spec("playwright") is None or not (PLACE / "chromium").exists()
pytestmark = pytest.mark.skipif(missing, reason="there is no browser in this environment; `make look` installs one")


@pytest.fixture(scope="module")
def page() -> str:
    """Of a real run on a forest that knows its members by heart, under a promise that it breaks."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 4)), rng.integers(0, 2, 300)
    data = MembershipData.of(X[:150], y[:150], X[150:], y[150:])
    forest = RandomForestClassifier(20, random_state=0).fit(X[:150], y[:150])
    receipt = Receipt("fit", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "k", "")
    names = ("age", "a long name <b>with signs</b>", "weight_in_kilograms", "d")
    report = attacked(ModelMaterial(forest, data, names), name="a forest that learns by heart", receipt=receipt)
    assert report.beyond
    return re.sub(SECONDS, r"\1<td>0.5</td>", report.to_html())


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as found:
        yield found


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [WIDE, PHONE])
def test_the_page_of_attacks_is_whole_and_looks_as_it_did(
    scheme: str, width: int, page: str, browser: Any, request: pytest.FixtureRequest
) -> None:
    context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": HEIGHT})
    shown = context.new_page()
    asked: list[str] = []
    shown.on("request", lambda one: asked.append(one.url))
    shown.set_content(page)
    assert [fault for fault in shown.evaluate(FAULTS) if not HYPHEN.match(fault)] == []
    assert asked == []
    assert shown.locator("script").count() == 0
    first = shown.locator("p.warning").first
    assert "NOT PRIVATE" in first.inner_text()
    assert first.bounding_box()["y"] < HEIGHT / 4
    if (scheme, width) in PICTURES:
        kept, picture = KEPT / PICTURES[scheme, width], shown.screenshot(full_page=True, clip=FIRST | {"width": width})
        if request.config.getoption("keep"):
            kept.write_bytes(small(picture))
        assert difference(picture, kept.read_bytes()) < SHARE, f"{kept.name}: `make look KEEP=--keep`"
    context.close()
