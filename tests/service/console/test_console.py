"""The console without a browser: what each page holds, who may see it, which forms are taken, and what is refused."""

from __future__ import annotations

import gzip
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from discreet.crypto.identity import Identity, Roster
from discreet.noise.system_bits import system_bits
from discreet.releases.privacy_card import PrivacyCard
from discreet.releases.signed_card import SignedCard
from discreet.service.console.assets import assets
from discreet.service.console.console import PATHS
from discreet.service.console.policy import CONTENT
from discreet.service.console.sent_form import LONGEST
from discreet.service.console.visit import MENU, SESSION, VISITOR
from discreet.service.server.site import Site
from tests.service.console.made_console import HOSTILE, SHOUTED, bare, browser_at, made_console, posted, read, signed_in

HOSPITAL = Identity.drawn("hospital", system_bits())
ASK = "/data/patients/ask?statistic=mean&column=age&by=sex&step=13"


@pytest.fixture(scope="module")
def opened(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, httpx.Client]]:
    with made_console(tmp_path_factory.mktemp("console"), identity=HOSPITAL) as found:
        yield found


@pytest.fixture(scope="module")
def site(opened: tuple[Site, httpx.Client]) -> Site:
    return opened[0]


@pytest.fixture(scope="module")
def anybody(opened: tuple[Site, httpx.Client]) -> httpx.Client:
    return opened[1]


@pytest.fixture(scope="module")
def ann(opened: tuple[Site, httpx.Client]) -> httpx.Client:
    return signed_in(*opened, "ann")


@pytest.fixture(scope="module")
def cat(opened: tuple[Site, httpx.Client]) -> httpx.Client:
    return signed_in(*opened, "cat")


@pytest.fixture(scope="module")
def dan(opened: tuple[Site, httpx.Client]) -> httpx.Client:
    return signed_in(*opened, "dan")


@pytest.fixture(scope="module")
def answered(ann: httpx.Client) -> str:
    """The path of an answer that was paid for."""
    return str(posted(ann, ASK, "/data/patients/ask").headers["location"])


def spent(site: Site, name: str = "patients") -> float:
    return site.data_set(site.file.users["cat"], name).balances["data set"].certified


OPEN = ("/", "/sign-in", "/tour", *(f"/tour/{step}" for step in range(1, 7)), "/nowhere")
OF_ANALYSTS = (
    "/data",
    "/data/patients",
    "/data/odd",
    ASK,
    f"/data/odd/ask?statistic=mean&column={HOSTILE.replace('&', '%26')}&by=group&if-1=group&than-1=a",
    "/data/patients/words",
    "/data/patients/words?question=" + HOSTILE.replace("&", "%26"),
    "/answers",
    "/data/nothing",
)
OF_CURATORS = ("/data", "/data/odd", "/approvals", "/people", "/history", "/history/odd", "/schema", "/data/odd/card")


def pages(anybody: httpx.Client, ann: httpx.Client, cat: httpx.Client, answered: str) -> Iterator[tuple[str, Any]]:
    """Every page that there is."""
    for browser, paths in ((anybody, OPEN), (ann, (*OF_ANALYSTS, answered, f"{answered}/card")), (cat, OF_CURATORS)):
        for path in paths:
            yield path, browser.get(path)


def test_every_page_is_whole_labelled_and_bound_by_one_policy(
    anybody: httpx.Client, ann: httpx.Client, cat: httpx.Client, answered: str
) -> None:
    for path, reply in pages(anybody, ann, cat, answered):
        assert reply.status_code in (200, 404), path
        for name in ("x-content-type-options", "referrer-policy", "x-frame-options", "cross-origin-opener-policy"):
            assert name in reply.headers
        assert reply.headers["content-security-policy"] == CONTENT
        assert reply.headers["cache-control"] == "no-store"
        page = read(reply.text)
        ids = page.ids()
        assert len(ids) == len(set(ids)), path
        assert [tag for tag, _ in page.tags].count("h1") == 1, path
        labelled = {named.get("for") for tag, named in page.tags if tag == "label"}
        for tag, named in page.tags:
            assert "style" not in named
            assert tag not in ("style", "iframe", "object", "embed", "base")
            assert not any(name.startswith(("on", "hx-on")) for name in named)
            for name in ("src", "href", "action", "hx-get"):
                assert str(named.get(name) or "/").startswith(("/", "#", "?")), (path, named)
            if tag in ("select", "textarea") or (
                tag == "input" and named.get("type") not in ("hidden", "checkbox", "radio")
            ):
                assert named.get("id") in labelled or named.get("aria-label"), (path, named)
            if tag in ("svg", "meter", "progress"):
                assert named.get("aria-label") or 'class="chart"' in reply.text, (path, named)
            if tag == "script":
                assert named.keys() == {"src", "defer"}
        for form in page.forms:
            assert form.method == "get" or "csrf" in form.fields, (path, form.action)


def test_no_name_becomes_markup_and_no_template(
    anybody: httpx.Client, ann: httpx.Client, cat: httpx.Client, answered: str, site: Site
) -> None:
    site.ask(
        site.file.users["ann"],
        "odd",
        {"sql": f'SELECT count(*) AS "{HOSTILE.replace(chr(34), "")}" FROM odd'},
        epsilon=0.1,
    )
    site.freeze(site.file.users["cat"], "odd", HOSTILE)
    seen = 0
    for path, reply in pages(anybody, ann, cat, answered):
        assert "<script>alert" not in reply.text, path
        assert "&49" not in bare(reply.text), path
        seen += SHOUTED in bare(reply.text)
    assert seen >= 8
    site.thaw(site.file.users["cat"], "odd")
    part = ann.get(
        "/data/odd/ask?statistic=mean&column=x" + HOSTILE.replace("&", "%26"), headers={"hx-request": "true"}
    )
    assert "<script>alert" not in part.text
    assert SHOUTED in bare(part.text)


def test_files_are_small_and_kept_by_browsers(anybody: httpx.Client) -> None:
    first = anybody.get("/sign-in")
    files = [anybody.get(path) for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', first.text)]
    assert len(files) >= 3
    for file in files:
        assert file.status_code == 200
        assert "immutable" in file.headers["cache-control"]
        assert file.headers["content-security-policy"] == CONTENT
    sent = len(first.content) + sum(
        int(file.headers["content-length"]) for file in {file.url: file for file in files}.values()
    )
    assert sent < 40_000
    assert len(gzip.compress(first.content)) + sum(len(one.packed) for one in assets().values()) < 24_000
    for path in ("/static/nope", "/static/..%2fconsole.py", "/static/../policy.py", "/static/%2e%2e/policy.py"):
        assert anybody.get(path).status_code == 404


def test_pages_are_for_those_who_signed_in(anybody: httpx.Client, site: Site) -> None:
    for path in (
        "/data",
        "/data/patients",
        "/answers",
        "/approvals",
        "/history/patients",
        "/schema",
        "/answers/x/card",
    ):
        reply = anybody.get(path)
        assert reply.status_code == 401
        assert [form.action for form in read(reply.text).forms] == ["/sign-in"]
    for wrong in ("", "discreet_x_y", "x" * 5000, site.keys.drawn("ann")[:-1]):
        reply = posted(anybody, "/sign-in", "/sign-in", key=wrong)
        assert reply.status_code == 401
        assert "set-cookie" not in reply.headers or SESSION not in reply.headers["set-cookie"]
        assert not wrong or wrong not in reply.text


def test_a_session_ends_when_its_owner_leaves(opened: tuple[Site, httpx.Client]) -> None:
    browser = signed_in(*opened, "ann")
    kept = browser.cookies[SESSION]
    assert posted(browser, "/data", "/sign-out").headers["location"] == "/sign-in"
    assert SESSION not in browser.cookies
    assert browser_at(str(browser.base_url), **{SESSION: kept}).get("/data").status_code == 401


def test_cookies_are_out_of_reach_of_scripts_and_other_sites(tmp_path: Path) -> None:
    for secure in (False, True):
        (folder := tmp_path / str(secure)).mkdir()
        with made_console(folder, secure=secure) as (site, client):
            visitor = re.search(rf"{VISITOR}=([^;]+)", client.get("/sign-in").headers["set-cookie"])
            assert visitor is not None
            known = browser_at(str(client.base_url), **{VISITOR: visitor[1]})
            reply = posted(known, "/sign-in", "/sign-in", key=site.keys.drawn("ann"))
            cookies = [one.lower() for one in reply.headers.get_list("set-cookie")]
            assert len(cookies) == 2  # a session begins, and a visitor is one no more
            for cookie in cookies:
                assert "httponly" in cookie
                assert "samesite=strict" in cookie
                assert ("secure" in cookie) is secure


def test_every_form_needs_the_token_of_its_own_session(
    ann: httpx.Client, cat: httpx.Client, anybody: httpx.Client, site: Site, answered: str
) -> None:
    before = spent(site)
    form = read(ann.get(ASK).text).form("/data/patients/ask")
    foreign = read(cat.get("/approvals").text).forms[0].fields["csrf"]
    for token in ("", "x", foreign, form.fields["csrf"][:-1], form.fields["csrf"] + "x"):
        assert ann.post(form.action, data={**form.fields, "csrf": token}).status_code == 401
    every = [one.path for one in PATHS if one.sent is not None]
    assert len(every) >= 10
    for path in every:
        there = re.sub(r"\{name\}", "patients", path).replace("{id}", answered.rsplit("/", 1)[1])
        browser, refused = (anybody, 422) if path == "/sign-in" else (cat, 401)
        assert browser.post(there, data={"decision": "approve", "reason": "r"}).status_code == refused, path
    elsewhere = {"sec-fetch-site": "cross-site"}
    assert ann.post(form.action, data=form.fields, headers=elsewhere).status_code == 422
    assert spent(site) == before
    assert site.data_set(site.file.users["cat"], "patients").frozen == ""


def test_forms_are_of_one_kind_and_of_bounded_size(ann: httpx.Client) -> None:
    form = read(ann.get(ASK).text).form("/data/patients/ask")
    assert ann.post(form.action, json=form.fields).status_code == 413
    assert ann.post(form.action, files={"question": b"x"}).status_code == 413
    assert ann.post(form.action, data={**form.fields, "question": "x" * LONGEST}).status_code == 413
    assert (
        ann.post(
            form.action, content=b"csrf=%ff", headers={"content-type": "application/x-www-form-urlencoded"}
        ).status_code
        == 422
    )
    assert ann.get("/data/patients/ask?statistic=%ff").status_code == 422
    assert ann.get("/data/patients/ask?" + "&".join(["a=1"] * 600)).status_code == 422


def test_what_was_shown_is_asked_once_and_given_again_for_nothing(ann: httpx.Client, site: Site, answered: str) -> None:
    before = spent(site)
    form = read(ann.get(ASK).text).form("/data/patients/ask")
    first, again = (ann.post(form.action, data=form.fields) for _ in range(2))
    assert first.headers["location"] == again.headers["location"]
    assert spent(site) == pytest.approx(before + 0.42, rel=1e-4)
    for _ in range(3):
        page = read(ann.get(first.headers["location"]).text)
        assert "one record that is added or removed" in page.text
    assert spent(site) == pytest.approx(before + 0.42, rel=1e-4)
    other = {**form.fields, "question": '{"statistic": "count", "options": {}}'}
    assert ann.post(form.action, data=other).status_code == 409


def test_previews_charge_nothing_and_say_the_same_in_python_and_sql(ann: httpx.Client, site: Site) -> None:
    before = spent(site)
    shown = read(ann.get(ASK).text)
    assert "discreet.mean(site['patients'], 'age', by='sex', epsilon=0.42)" in shown.text
    assert 'OPTIONS(epsilon=0.42) "sex", AVG("age") FROM "patients" GROUP BY "sex"' in shown.text
    errors = []
    for step in (5, 13, 21):
        part = ann.get(ASK.replace("step=13", f"step={step}"), headers={"hx-request": "true"})
        assert "<html" not in part.text
        errors.append(float(re.search(r"expected error</dt><dd>± ([\d.]+)", part.text)[1]))  # type: ignore[index]
    assert errors == sorted(errors, reverse=True)
    assert "Epsilon 0.0" in read(ann.get(ASK + "&within=5").text).text
    assert "cannot" in ann.get("/data/patients/ask?statistic=mean&column=age&column=sex").text
    assert spent(site) == before


def test_what_moves_quickly_asks_for_one_preview(ann: httpx.Client, anybody: httpx.Client) -> None:
    """A slider says twice that it moved, at each step: what is not put off is worked on for nobody."""
    for browser, path in ((ann, ASK), (ann, "/data/patients/words"), (anybody, "/tour/2")):
        (told,) = [
            named["hx-trigger"]
            for tag, named in read(browser.get(path).text).tags
            if tag == "form" and "hx-get" in named
        ]
        assert all("delay:" in one for one in str(told).split(", ") if one != "submit"), (path, told)


def test_a_model_is_worked_on_and_comes_with_an_attack_report(ann: httpx.Client, site: Site, answered: str) -> None:
    before, learner = spent(site), {"learner": "GaussianNB", "parameters": {"target": "group"}}
    asked = site.ask(site.file.users["ann"], "odd", learner, epsilon=0.5)
    path = f"/answers/{asked.id}"
    for _ in range(400):
        reply = ann.get(path)
        assert reply.status_code in (200, 202)
        if reply.status_code == 200:
            break
        assert "<progress" in reply.text
        time.sleep(0.05)
    page = read(reply.text)
    assert f"{path}/attack" in [named.get("href") for tag, named in page.tags if tag == "a"]
    report = ann.get(f"{path}/attack")
    assert report.status_code == 200, read(report.text).text
    assert report.headers["content-disposition"].startswith("attachment")
    assert "made up" in report.text
    assert "<script>alert" not in report.text
    assert ann.get(f"{answered}/attack").status_code == 422  # of a mean there is none
    assert spent(site) == before


def test_previews_need_no_record(ann: httpx.Client, site: Site) -> None:
    site._data["odd"].line.close()
    shown = read(ann.get("/data/odd/ask?statistic=count&step=13").text)
    assert "expected error" in shown.text
    assert shown.form("/data/odd/ask").fields["epsilon"] == "0.42"


def test_the_data_set_of_somebody_else_does_not_exist(ann: httpx.Client, cat: httpx.Client, answered: str) -> None:
    refused = [ann.get(path) for path in ("/data/staff", "/data/nothing", "/data/staff/ask", "/history/patients")]
    assert {reply.status_code for reply in refused} == {404}
    assert "staff" not in read(ann.get("/data").text).text
    for path in ("card", "result"):
        assert cat.get(f"{answered}/{path}").status_code == 404  # results are their analyst's
    page = read(cat.get(answered).text)
    assert "Answers are their analyst's" in page.text
    assert "±" not in page.text


def test_analysts_and_auditors_decide_nothing(ann: httpx.Client, dan: httpx.Client, answered: str) -> None:
    for browser in (ann, dan):
        token = read(browser.get("/data").text).forms[0].fields["csrf"]
        for path in (
            "/data/patients/freeze",
            "/data/patients/thaw",
            f"/approvals{answered.removeprefix('/answers')}",
            "/schema",
        ):
            assert browser.post(path, data={"csrf": token, "reason": "r", "decision": "approve"}).status_code == 404
    assert dan.get("/history/patients").status_code == 200
    assert "Ask, and pay" not in dan.get(ASK).text
    token = read(dan.get("/data").text).forms[0].fields["csrf"]
    asked = {"csrf": token, "question": '"count"', "epsilon": "0.1", "delta": "0", "key": "k"}
    assert dan.post("/data/patients/ask", data=asked).status_code == 422


def test_menus_show_what_each_role_can_see(ann: httpx.Client, cat: httpx.Client, dan: httpx.Client) -> None:
    for browser, role in ((ann, "analyst"), (cat, "curator"), (dan, "auditor")):
        shown = [named.get("href") for tag, named in read(browser.get("/data").text).tags if tag == "a"]
        for path, _, roles in MENU:
            assert (path in shown) is (role in roles)
            assert browser.get(path).status_code == (200 if role in roles else 404)


def test_a_dear_question_waits_until_a_curator_decides(ann: httpx.Client, cat: httpx.Client, site: Site) -> None:
    before, dear = spent(site), "/data/patients/ask?statistic=count&step=20"
    assert "waits for a curator" in ann.get(dear).text
    paths = [posted(ann, dear, "/data/patients/ask").headers["location"] for _ in range(2)]
    waiting = ann.get(paths[0])
    assert waiting.status_code == 202
    assert 'hx-trigger="every 2s"' in waiting.text
    assert spent(site) == before
    denied, approved = (path.removeprefix("/answers/") for path in paths)
    assert posted(cat, "/approvals", f"/approvals/{denied}", decision="deny").status_code == 422  # without a reason
    assert posted(cat, "/approvals", f"/approvals/{denied}", decision="deny", reason=HOSTILE).status_code == 303
    assert SHOUTED in bare(ann.get(paths[0]).text)
    assert "<script>alert" not in ann.get(paths[0]).text
    assert posted(cat, "/approvals", f"/approvals/{approved}", decision="approve").status_code == 303
    for _ in range(200):
        if (reply := ann.get(paths[1])).status_code == 200:
            break
        time.sleep(0.05)
    assert "±" in read(reply.text).text
    assert spent(site) == pytest.approx(before + 3.2, rel=1e-4)
    assert ann.get(dear.replace("20", "24")).status_code == 200
    assert "0 \N{MULTIPLICATION SIGN}" in read(ann.get(dear.replace("20", "24")).text).text
    broke = posted(ann, dear.replace("20", "24"), "/data/patients/ask")
    assert broke.status_code == 402
    assert "is left" in read(broke.text).text


def test_frozen_data_is_not_asked_and_says_why(ann: httpx.Client, cat: httpx.Client) -> None:
    form = read(ann.get(ASK).text).form("/data/patients/ask")
    assert posted(cat, "/data/patients", "/freeze", reason="an audit").status_code == 303
    assert "an audit" in read(ann.get("/data/patients").text).text
    assert ann.post(form.action, data=form.fields).status_code == 422
    assert posted(cat, "/data/patients", "/thaw").status_code == 303
    assert "an audit" not in read(ann.get("/data/patients").text).text


def test_the_card_of_an_answer_is_signed_and_says_what_its_receipt_says(ann: httpx.Client, answered: str) -> None:
    page = read(ann.get(f"{answered}/card").text)
    kept = ann.get(f"{answered}/card?as=json")
    signed = SignedCard.read(kept.text, Roster.of([HOSPITAL]))
    assert kept.headers["content-disposition"].startswith('attachment; filename="patients-')
    receipt = json.loads(ann.get(f"{answered}/result").text)["receipt"]
    assert (signed.card.epsilon, signed.card.key) == (receipt["epsilon"], receipt["key"])
    assert "signed by hospital" in page.text
    assert signed.card.public["age"] == "0 to 110"
    whole = ann.get(f"{answered}/card?as=html")
    assert whole.headers["content-disposition"].endswith('.html"')
    assert "unsafe-inline" not in whole.text


def test_the_card_of_an_account_is_not_for_analysts(cat: httpx.Client, dan: httpx.Client, ann: httpx.Client) -> None:
    card = SignedCard.read(cat.get("/data/patients/card?as=json").text, Roster.of([HOSPITAL])).card
    assert (card.kind, card.together) == ("account", True)
    assert isinstance(card, PrivacyCard)
    assert dan.get("/data/patients/card").status_code == 200
    assert ann.get("/data/patients/card").status_code == 404


def test_a_history_is_shown_with_its_proofs_and_checked(cat: httpx.Client, site: Site, answered: str) -> None:
    entries = site.history(site.file.users["cat"], "patients")
    page = read(cat.get("/history/patients").text)
    assert all(entry.head[:16] in page.text for entry in entries)
    assert entries[-1].head in page.text
    checked = posted(cat, "/history/patients", "/history/patients")
    assert f"{len(entries)}" in read(checked.text).text
    assert "Checked" in checked.text


def test_a_damaged_ledger_makes_the_page_say_who_must_do_what(tmp_path: Path) -> None:
    with made_console(tmp_path) as (site, client):
        cat = signed_in(site, client, "cat")
        site._data["staff"].trouble = "the chain is broken at entry 3"
        assert "newest intact copy" in read(cat.get("/data").text).text
        assert "Read-only" in read(cat.get("/data/staff").text).text
        assert cat.get("/history/staff").status_code == 200
        assert cat.get("/data/staff/ask?statistic=count").status_code in (200, 503)
        assert posted(cat, "/data/staff", "/reopen").status_code == 303
        assert "Read-only" not in read(cat.get("/data/staff").text).text


def test_programs_are_refused_in_json(anybody: httpx.Client) -> None:
    reply = anybody.get("/api/nothing")
    assert (reply.status_code, reply.json()["error"]) == (404, "NotHere")
    assert anybody.get("/api/health").json() == {"site": "open"}


def test_keys_are_on_no_page_and_in_no_address(opened: tuple[Site, httpx.Client]) -> None:
    site, client = opened
    browser, key = signed_in(site, client, "ann"), site.keys.drawn("ann")
    for path in ("/data", "/data/patients", "/answers", ASK):
        text = browser.get(path).text
        assert key not in text
        assert browser.cookies[SESSION] not in text


def test_everything_works_without_script(ann: httpx.Client) -> None:
    """The forms that a script would send go to pages that show the same."""
    page = read(ann.get("/data/patients/ask").text)
    for tag, named in page.tags:
        if tag == "form" and named.get("hx-get"):
            assert named["hx-get"] == named["action"]
    whole = ann.get(ASK)
    part = ann.get(ASK, headers={"hx-request": "true"})
    fresh = re.compile(r"console-[0-9a-f]{16}")
    assert fresh.sub("", part.text.strip()) in fresh.sub("", whole.text)
