"""What notebooks show, looked at in a browser: every sheet is read in two colours and two widths, and two are kept."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.look.browser import PLACE, opened
from tests.look.sheet import sheet
from tests.look.specimens import SHEETS

HERE = Path(__file__).parent
FAULTS = (HERE / "faults.js").read_text()
WIDE, PHONE = 720, 380
KEPT = {("light", WIDE), ("dark", PHONE)}
STRONG = 48  # of 255: a pixel that differs by less is another rounding of the same letter
SHARE = 0.25  # of the kept picture's ink: other digits are less, another layout is more
Shot = Callable[[str, str, int], Any]

missing = importlib.util.find_spec("playwright") is None or not (PLACE / "chromium").exists()
pytestmark = pytest.mark.skipif(missing, reason="there is no browser in this environment; `make look` installs one")


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as found:
        yield found


@pytest.fixture
def shown(browser: Any) -> Iterator[Shot]:
    """A page in the browser, by its text, its colour scheme and its width."""
    contexts = []

    def page(text: str, scheme: str, width: int) -> Any:
        contexts.append(browser.new_context(color_scheme=scheme, viewport={"width": width, "height": 600}))
        found = contexts[-1].new_page()
        found.set_content(text)
        return found

    yield page
    for context in contexts:
        context.close()


@pytest.mark.parametrize("name", SHEETS)
def test_a_sheet_is_whole_and_looks_as_it_did(name: str, shown: Shot, request: pytest.FixtureRequest) -> None:
    outputs = [one._repr_html_() for one in SHEETS[name]()]
    for scheme in ("light", "dark"):
        for width in (WIDE, PHONE):
            page = shown(sheet(outputs, scheme), scheme, width)
            assert page.evaluate(FAULTS) == [], (scheme, width)
            if (scheme, width) in KEPT:
                kept = HERE / "kept" / f"{name}-{scheme}.png"
                picture = page.screenshot(full_page=True)
                if request.config.getoption("keep"):
                    kept.write_bytes(small(picture))
                assert difference(picture, kept.read_bytes()) < SHARE, f"{kept.name}: `make look KEEP=--keep`"


BAD = {
    '"1e-06" is broken': "<table><tr><td style='display: block; width: 2em'>1e-06 1e-06</td></tr></table>",
    '"pale" has a contrast of 2.8': "<p style='color: #999'>pale</p>",
    '"0.123" leaves its cell': "<table><tr><td style='max-width: 1em; white-space: nowrap'>0.123</td></tr></table>",
    "the page is 2": "<p style='width: 2000px'>far</p>",
}


@pytest.mark.parametrize("fault", BAD)
def test_what_is_broken_pale_or_cut_is_noticed(fault: str, shown: Shot) -> None:
    faults = shown(f"<div class='discreet'>{BAD[fault]}</div>", "light", PHONE).evaluate(FAULTS)
    assert any(fault in one for one in faults), faults


def test_another_picture_differs(shown: Shot) -> None:
    one, other = (
        shown(sheet([f"<p>{text}</p>"], "light"), "light", PHONE).screenshot()
        for text in ("as it was kept", "something else")
    )
    assert difference(one, small(one)) < SHARE / 5
    assert difference(other, small(one)) > SHARE


def difference(picture: bytes, kept: bytes) -> float:
    """How many pixels clearly differ, as a share of those that are not background in the kept picture."""
    new, old = (np.asarray(grey(one), dtype=np.int16) for one in (picture, kept))
    if new.shape != old.shape:
        return float("inf")
    ink = np.abs(old - old[0, 0]) > STRONG
    return float((np.abs(new - old) > STRONG).sum() / max(ink.sum(), 1))


def grey(picture: bytes) -> Any:
    from PIL import Image

    return Image.open(io.BytesIO(picture)).convert("L")


def small(picture: bytes) -> bytes:
    """The picture in eight greys: contrasts are measured on the page."""
    out = io.BytesIO()
    grey(picture).quantize(8).save(out, "PNG", optimize=True)
    return out.getvalue()
