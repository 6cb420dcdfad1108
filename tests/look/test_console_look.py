"""The console in a browser: every page, light and dark, as narrow as a phone, by keyboard; and the tour, timed."""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from discreet.service.console.tour import LAST
from discreet.service.server.site import Site
from tests.look.browser import PLACE, opened
from tests.look.test_look import SHARE, difference, small

HERE = Path(__file__).parent
WIDE, PHONE, HEIGHT = 1100, 360, 800
VIEWS = (("light", WIDE), ("dark", WIDE), ("light", PHONE), ("dark", PHONE))
KEPT = {("light", WIDE), ("dark", PHONE)}
TOUR = 120.0  # seconds
FIRST, WARM = 40_000, 300  # bytes of the first page with all its files, as they are sent; milliseconds of a later look
FAULTS = (HERE / "faults.js").read_text()
CUT = (HERE / "cut.js").read_text()
NUMBER = re.compile(r'^"[^"]*\d')  # a number that is broken; words may be, at their hyphens
WATCH = """window.refused = [];
document.addEventListener("securitypolicyviolation", (e) => refused.push(`${e.effectiveDirective} ${e.blockedURI}`));"""
STEADY = """() => {
  for (const one of document.querySelectorAll(".mono, td, th, p, dd")) {
    for (const text of one.childNodes) if (text.nodeType === 3)
      text.data = text.data.replace(/[0-9a-f]{16,}/g, "0123456789abcdef")
        .replace(/20\\d\\d-\\d\\d-\\d\\d/g, "2024-02-29");
  }
}"""
TIGHT = """() => Object.assign(document.querySelector("#tight")?.style ?? {},
  {width: "80px", overflow: "hidden", whiteSpace: "nowrap"})"""
OPEN = ("/sign-in", *(f"/tour/{step}" for step in range(1, LAST + 1)), "/nowhere")
ASK = "/data/patients/ask?statistic=mean&column=stay_days&by=department&step=13&if-1=age&is-1=%3E%3D&than-1=65"
ANALYST = ("/data", "/data/patients", ASK, "/data/patients/words?question=mean+of+age&step=13", "/answers")
CURATOR = ("/data", "/data/odd", "/approvals", "/people", "/history", "/history/patients", "/schema?names=age,sex")
PICTURES = {  # that are kept, by who looks
    "": ("/sign-in", "/tour/2"),
    "ann": (ASK,),
    "cat": ("/data", "/history/patients", "/schema?names=age,sex"),
}

missing = importlib.util.find_spec("playwright") is None or not (PLACE / "chromium").exists()
pytestmark = pytest.mark.skipif(missing, reason="there is no browser in this environment; `make look` installs one")


@dataclass
class Seen:
    """Somebody's browser before the console, and whatever went wrong there."""

    url: str
    page: Any
    wrong: list[str] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)

    def watch(self) -> None:
        """Write down requests to elsewhere, and what the page complains of."""
        self.page.add_init_script(WATCH)
        self.page.on("request", self._check_own)
        self.page.on("pageerror", lambda one: self.wrong.append(f"error: {one}"))
        self.page.on("requestfinished", self._measure)

    def _check_own(self, request: Any) -> None:
        if not request.url.startswith(self.url):
            self.wrong.append(f"outside: {request.url}")

    def _measure(self, request: Any) -> None:
        sizes = request.sizes()
        self.sizes.append(sizes["responseBodySize"] + sizes["responseHeadersSize"])

    def open(self, path: str) -> None:
        self.page.goto(self.url + path)
        self.page.wait_for_load_state("networkidle")

    def sign_in(self, key: str) -> None:
        self.open("/sign-in")
        self.page.fill("#key", key)
        self.page.click("main button")
        self.page.wait_for_url("**/data")

    def faults(self) -> list[str]:
        """What is wrong with the page as it stands: policy, width, cut content, contrast, and the rules of axe."""
        from axe_playwright_python.base import AXE_SCRIPT

        refused = [f"refused by the policy: {one}" for one in self.page.evaluate("window.refused")]
        looks = [one for one in self.page.evaluate(FAULTS) if "is broken" not in one or NUMBER.search(one)]
        faults = [*self.wrong, *refused, *looks, *self.page.evaluate(CUT)]
        self.page.evaluate(AXE_SCRIPT)
        ran = self.page.evaluate("axe.run(document, {resultTypes: ['violations']})")
        return [*faults, *(f"{one['id']}: {one['nodes'][0]['html']}" for one in ran["violations"])]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, str, list[str]]]:
    """A site with a past: answers of each kind, and a question that waits."""
    from tests.service.console.made_console import made_console

    with made_console(tmp_path_factory.mktemp("look")) as (found, client):
        ann, ids = found.file.users["ann"], []
        questions = {
            "mean of stay_days by department": 0.5,
            "histogram of age": 0.5,
            "mean of age": 0.3,
            "KMeans n_clusters=3 columns=['age','stay_days']": 1.0,
            "report bins=8": 1.0,
            "count": 3.0,
        }
        for text, epsilon in questions.items():
            asked = found.ask(ann, "patients", text, epsilon=epsilon, delta=1e-7 * (text[0] == "r"), key=text)
            ids.append(asked.id)
        found.ask(ann, "odd", "histogram of group", epsilon=0.5, key="odd")
        for id in ids[3:5]:
            while not found.answer(ann, id).done:
                time.sleep(0.1)
        yield found, str(client.base_url).rstrip("/"), ids


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with opened() as found:
        yield found


@pytest.fixture
def seen(browser: Any, site: tuple[Site, str, list[str]]) -> Iterator[Any]:
    contexts = []

    def begin(scheme: str = "light", width: int = WIDE, **more: Any) -> Seen:
        size = {"width": width, "height": HEIGHT}
        contexts.append(browser.new_context(color_scheme=scheme, viewport=size, reduced_motion="reduce", **more))
        found = Seen(site[1], contexts[-1].new_page())
        found.watch()
        return found

    yield begin
    for context in contexts:
        context.close()


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_every_page_is_clean_and_looks_as_it_did(
    scheme: str, width: int, seen: Any, site: tuple[Site, str, list[str]], request: pytest.FixtureRequest
) -> None:
    found, _, ids = site
    own = (*ANALYST, *(f"/answers/{id}" for id in ids), f"/answers/{ids[0]}/card")
    for name, paths in (("", OPEN), ("ann", own), ("cat", CURATOR)):
        looking = seen(scheme, width)
        if name:
            looking.sign_in(found.keys.drawn(name))
        for path in paths:
            looking.open(path)
            assert looking.faults() == [], (path, scheme, width)
            if path in PICTURES[name] and (scheme, width) in KEPT:
                _compare(looking.page, path, scheme, request.config.getoption("keep"))


def _compare(page: Any, path: str, scheme: str, keep: bool) -> None:
    """Hold a page against the picture that was kept of it."""
    page.evaluate(STEADY)
    place = HERE / "kept" / f"console-{path.strip('/').split('?')[0].replace('/', '-')}-{scheme}.png"
    picture = page.screenshot(full_page=True)
    if keep:
        place.write_bytes(small(picture))
    assert difference(picture, place.read_bytes()) < SHARE, f"{place.name}: `make look KEEP=--keep`"


def test_faults_of_pages_are_noticed(seen: Any) -> None:
    looking = seen("light", PHONE)
    looking.open("/sign-in")
    bad = {
        "is cut": "<div id='tight'>what is much too long for it</div>",
        "image-alt": "<img src='/static/icon.svg'>",
        "refused by the policy": "<p onclick='x()' style='color:red'>a</p>",
    }
    for fault, text in bad.items():
        looking.page.evaluate("(text) => { document.querySelector('main').innerHTML = text; }", text)
        looking.page.evaluate(TIGHT)
        looking.page.wait_for_timeout(100)
        assert any(fault in one for one in looking.faults()), fault


def test_the_first_page_is_small_and_quick(seen: Any) -> None:
    looking = seen()
    looking.open("/sign-in")
    assert len(looking.sizes) == 4
    assert sum(looking.sizes) < FIRST
    times = []
    for _ in range(5):
        looking.open("/sign-in")
        times.append(looking.page.evaluate("performance.getEntriesByType('navigation')[0].loadEventEnd"))
    print(f"{sum(looking.sizes[:4])} bytes, {min(times):.0f} ms")
    assert 0 < min(times) < WARM


def test_a_question_is_asked_by_keyboard_alone(seen: Any, site: tuple[Site, str, list[str]]) -> None:
    found = site[0]
    looking = seen()
    page = looking.page
    looking.open("/sign-in")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    _tab_to(page, "key")
    page.keyboard.type(found.keys.drawn("ann"))
    page.keyboard.press("Enter")
    page.wait_for_url("**/data")
    looking.open("/data/patients/ask")
    _tab_to(page, "statistic")
    page.keyboard.type("mean")
    while page.evaluate("document.activeElement.value") != "stay_days":
        page.keyboard.press("Tab")
    page.keyboard.press("Space")
    page.wait_for_selector("#preview dd")
    _tab_to(page, "step")
    before = page.inner_text("#preview dd")
    for _ in range(6):
        page.keyboard.press("ArrowLeft")
    page.wait_for_function("(before) => document.querySelector('#preview dd').innerText !== before", arg=before)
    assert page.evaluate("document.activeElement.id") == "step"  # the preview does not take the place away
    page.wait_for_load_state("networkidle")
    while (
        page.evaluate("document.activeElement.innerText || ''")
        != f"Ask, and pay epsilon {page.inner_text('#preview dd')}"
    ):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.wait_for_url("**/answers/*")
    assert "±" in page.inner_text("main")
    assert looking.faults() == []


def _tab_to(page: Any, name: str) -> None:
    for _ in range(80):
        if page.evaluate("document.activeElement.id") == name:
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"{name} is not reached by keyboard")


def test_the_console_works_without_script(seen: Any, site: tuple[Site, str, list[str]]) -> None:
    looking = seen("light", PHONE, java_script_enabled=False)
    page = looking.page
    looking.sign_in(site[0].keys.drawn("ann"))
    looking.open("/data/patients/ask")
    page.select_option("#statistic", "mean")
    page.check("input[name=column][value=age]")
    page.click("text=Show what to expect")
    page.click("text=Ask, and pay")
    page.wait_for_url("**/answers/*")
    assert "±" in page.inner_text("main")


def test_the_tour_takes_less_than_two_minutes(seen: Any) -> None:
    begun, looking = time.monotonic(), seen()
    page = looking.page
    looking.open("/tour")
    for step in range(1, LAST):
        if step == 2:
            before = page.inner_text("#shown dd")
            page.focus("#step")
            page.keyboard.press("ArrowRight")
            page.wait_for_function("(before) => document.querySelector('#shown dd').innerText !== before", arg=before)
        page.click("text=Next:")
        page.wait_for_url(f"**/tour/{step + 1}")
    assert "To the site" in page.inner_text("main")
    assert time.monotonic() - begun < TOUR
    assert looking.faults() == []
