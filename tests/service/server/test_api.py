"""A site over HTTP: the status of each refusal, the description, and that nothing else than it ever comes back."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from discreet.service.server.api_description import description, statuses
from discreet.service.server.api_ways import WAYS
from discreet.service.server.serving_site import ServedSite, served
from discreet.service.server.site import Site
from tests.service.server.made_site import TEXT, made_site

ASK = "/api/data/patients/ask"


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    with Site.open(made_site(tmp_path_factory.mktemp("api"))) as site, served(site) as one:
        yield one


@pytest.fixture(scope="module")
def keys(there: ServedSite) -> dict[str, str]:
    return {name: there.site.keys.drawn(name) for name in there.site.file.users}


class Sender:
    """Sends requests on one line, as somebody."""

    def __init__(self, there: ServedSite, key: str = "") -> None:
        host, port = there.address.removeprefix("http://").split(":")
        self.line = HTTPConnection(host, int(port), timeout=60)
        self.headers = {"Authorization": f"Bearer {key}"} if key else {}

    def __call__(self, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, Any]:
        data = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        self.line.request(method, path, data, {**self.headers, **headers})
        answer = self.line.getresponse()
        text = answer.read()
        assert answer.headers["content-type"].startswith(("application/json", "text/plain"))
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "default-src 'none'" in answer.headers["content-security-policy"]
        return answer.status, json.loads(text) if answer.headers["content-type"] == "application/json" else text


@pytest.fixture
def ann(there: ServedSite, keys: dict[str, str]) -> Iterator[Sender]:
    one = Sender(there, keys["ann"])
    yield one
    one.line.close()


@pytest.fixture
def cat(there: ServedSite, keys: dict[str, str]) -> Iterator[Sender]:
    one = Sender(there, keys["cat"])
    yield one
    one.line.close()


def test_a_question_is_answered_and_given_again(ann: Sender) -> None:
    status, first = ann("POST", ASK, {"question": "mean of age", "epsilon": 0.5, "key": "k"})
    assert (status, first["result"]["name"], first["receipt"]["epsilon"]) == (200, "mean of age", pytest.approx(0.5))
    assert ann("POST", ASK, {"question": "mean of age", "epsilon": 0.5, "key": "k"}) == (200, first)
    assert ann("POST", f"/api/asked/{first['id']}/answer", {}) == (200, first)
    status, charges = ann("GET", "/api/data/patients/history")
    assert [one["key"] for one in charges["charges"]][-1] == "ann/k"


def test_the_same_bytes_are_answered_with_the_same_bytes_to_the_same_caller_alone(
    ann: Sender, cat: Sender, there: ServedSite, monkeypatch: pytest.MonkeyPatch
) -> None:
    said = {"question": "count", "epsilon": 0.05, "key": "same bytes"}
    first = ann("POST", ASK, said)
    ledger = there.site.data_set(there.site.file.users["cat"], "patients").balances["data set"].certified
    again = [ann("POST", ASK, said) for _ in range(3)]
    assert all(one == first for one in again)
    assert there.site.data_set(there.site.file.users["cat"], "patients").balances["data set"].certified == ledger
    other = cat("POST", ASK, said)
    assert other[1]["id"] != first[1]["id"]
    assert cat("POST", ASK, {**said, "epsilon": 0.06})[0] == 409
    assert "paid" in ann("POST", ASK, {**said, "stored": True})[1]
    users = {**there.site.file.users, "ann": replace(there.site.file.users["ann"], data=())}
    monkeypatch.setattr(there.site, "file", replace(there.site.file, users=users))
    assert ann("POST", ASK, said)[0] == 404


def test_every_refusal_has_its_status(ann: Sender, cat: Sender, there: ServedSite) -> None:
    ann("POST", ASK, {"question": "mean of age", "epsilon": 0.5, "key": "taken"})
    table: list[tuple[int, str, str, Any]] = [
        (404, "GET", "/api/data/staff", None),
        (404, "GET", "/api/data/nothing", None),
        (404, "POST", "/api/data/staff/ask", {"question": "mean of pay", "epsilon": 0.5}),
        (404, "GET", f"/api/asked/{'0' * 32}", None),
        (404, "POST", "/api/data/patients/freeze", {"reason": "mine"}),
        (404, "GET", "/api/data/patients/verify", None),
        (404, "GET", "/api/metrics", None),
        (404, "GET", "/nothing", None),
        (405, "DELETE", "/api/me", None),
        (402, "POST", ASK, {"question": "histogram of age", "epsilon": 5000}),
        (202, "POST", ASK, {"question": "mean of age", "epsilon": 2.6}),
        (409, "POST", ASK, {"question": "mean of age", "epsilon": 0.4, "key": "taken"}),
        (422, "POST", ASK, {"question": "mean of agee", "epsilon": 0.5}),
        (422, "POST", ASK, {"question": "mean of age"}),
        (422, "POST", ASK, {"question": "mean of age", "epsilon": "1"}),
        (422, "POST", ASK, {"question": "mean of age", "epsilon": True}),
        (422, "POST", ASK, {"question": "mean of age", "epsilon": 0.5, "colour": 1}),
        (422, "POST", ASK, {"question": "mean of age", "epsilon": 0.5, "key": "a\nb"}),
        (422, "POST", ASK, b"{"),
        (422, "POST", ASK, b"[]"),
        (422, "POST", ASK, b'{"question": "mean of age", "epsilon": NaN}'),
        (422, "POST", ASK, b"[" * 50000),
        (413, "POST", ASK, b" " * 70000),
        (422, "POST", "/api/data/patients/plan", {"questions": ["mean of age"], "n": 10**7}),
        (422, "POST", "/api/data/patients/often", {"event": {"discreet.event": 1}, "most": 3}),
    ]
    for status, method, path, body in table:
        found, said = ann(method, path, body)
        assert found == status, (method, path, body, said)
        assert status == 202 or said["remedy"], said
    found, said = ann("POST", ASK, {"question": "histogram of age", "epsilon": 5000})
    assert 0 < said["values"]["left"] <= 1000
    found, said = cat("GET", "/api/data/patients/verify")
    assert (found, said["dangling"]) == (200, 0)


def test_what_may_be_asked_later_says_when_and_charges_nothing(tmp_path: Path) -> None:
    """Too many at a time, a ledger that cannot be used, a key that has expired, too many in a minute."""
    text = TEXT.replace("requests = 100000", "requests = 12").replace("running = 64", "running = 1")
    with Site.open(made_site(tmp_path, text=text)) as site, served(site) as there:
        ann, old = Sender(there, site.keys.drawn("ann")), Sender(there, site.keys.drawn("ann", time.time() - 1))
        said = {"question": "count", "epsilon": 0.1, "key": "k"}
        with site.desk._limits.running("ann"):
            assert refused_later(ann, said)[0] == (429, "1", "TooMany")
        assert ann("POST", ASK, said)[0] == 200
        head = tmp_path / "patients.ledger.head"
        kept = head.read_bytes()
        head.unlink()
        found, refusal = refused_later(ann, {**said, "key": "j"})
        assert found == (503, "1", "ReadOnlySite")
        assert "owner" in refusal["remedy"]
        assert old("POST", ASK, said)[0] == 401
        head.write_bytes(kept)
        assert site.reopen(site.file.users["cat"], "patients") == ""
        while (status := ann("GET", "/api/me")[0]) == 200:
            pass
        assert status == 429
        assert refused_later(ann, said)[0] == (429, "1", "TooMany")
        assert len(site.history(site.file.users["cat"], "patients")) == 1
        ann.line.close()
        old.line.close()


def refused_later(sender: Sender, said: Any) -> tuple[tuple[int, str | None, str], Any]:
    """The status of a question, when it may be sent again, and the kind of its refusal; and all that it says."""
    sender.line.request("POST", ASK, json.dumps(said), sender.headers)
    answer = sender.line.getresponse()
    refusal = json.loads(answer.read())
    return (answer.status, answer.headers["retry-after"], refusal["error"]), refusal


def test_nobody_is_known_without_a_key_and_all_are_refused_alike(there: ServedSite, keys: dict[str, str]) -> None:
    said, nearly = set(), keys["ann"][:-1] + ("1" if keys["ann"].endswith("0") else "0")
    for key in ("x", nearly, "discreet_00_00", keys["ann"].upper()):
        sender = Sender(there, key)
        status, refused = sender("GET", "/api/me")
        assert status == 401
        said.add(json.dumps(refused))
        assert key not in json.dumps(refused)
        sender.line.close()
    assert len(said) == 1
    sender = Sender(there)
    assert sender("GET", "/api/me")[0] == 401
    assert sender("GET", "/api/health") == (200, {"site": "open"})
    sender.line.close()


def test_a_curator_decides_freezes_and_sees_no_results(ann: Sender, cat: Sender) -> None:
    _, waiting = ann("POST", ASK, {"question": "count", "epsilon": 2.7, "key": "dear"})
    assert cat("GET", f"/api/asked/{waiting['id']}")[1]["state"] == "waiting"
    assert cat("POST", f"/api/asked/{waiting['id']}/deny", {"reason": "no"})[1]["why"] == "cat: no"
    assert ann("POST", ASK, {"question": "count", "epsilon": 2.7, "key": "dear"})[0] == 422
    assert cat("POST", f"/api/asked/{waiting['id']}/approve", {})[0] == 422
    status, view = cat("POST", "/api/data/patients/freeze", {"reason": "an audit"})
    assert "an audit" in view["frozen"]
    assert ann("POST", ASK, {"question": "count", "epsilon": 0.1})[0] == 422
    assert cat("POST", "/api/data/patients/thaw", {})[1]["frozen"] == ""
    _, mine = ann("POST", ASK, {"question": "count", "epsilon": 0.1})
    assert cat("POST", f"/api/asked/{mine['id']}/answer", {})[0] == 404
    status, figures = cat("GET", "/api/metrics")
    assert status == 200
    assert b"ann" not in figures
    assert b"discreet_answers_total" in figures


def test_the_description_has_every_way_with_its_refusals(there: ServedSite) -> None:
    sender = Sender(there)
    status, said = sender("GET", "/api/openapi.json")
    sender.line.close()
    assert (status, said) == (200, json.loads(json.dumps(description())))
    assert {(path, way) for path, ways in said["paths"].items() for way in ways} == {
        (way.path, way.method.lower()) for way in WAYS
    }
    asked = said["paths"]["/api/data/{name}/ask"]["post"]["responses"]
    assert {"200", "202", "401", "402", "404", "409", "413", "422", "429", "503"} <= asked.keys()


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
WORDS = st.sampled_from(
    [
        "mean",
        "of",
        "age",
        "by",
        "sex",
        "where",
        "age",
        ">=",
        "5",
        "SELECT",
        "count(*)",
        "FROM",
        "x",
        "q=[",
        "KMeans",
        "(",
    ]
)
QUESTIONS = st.one_of(
    VALUES,
    st.lists(WORDS, max_size=8).map(" ".join),
    st.fixed_dictionaries({"statistic": st.sampled_from(["mean", "quantile", "histogram"]), "options": VALUES}),
    st.fixed_dictionaries({"learner": st.sampled_from(["KMeans", "Ridge", "PrivatePipeline"]), "parameters": VALUES}),
    st.fixed_dictionaries({"groups": st.dictionaries(st.sampled_from(["by", "words", "edges"]), VALUES)}),
    st.fixed_dictionaries({"words": st.just("mean of age"), "where": VALUES, "derive": VALUES}),
)


@settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    way=st.sampled_from(WAYS),
    name=st.text(max_size=12),
    values=st.lists(VALUES, min_size=5, max_size=5),
    question=QUESTIONS,
)
def test_no_request_has_another_answer_than_the_description_says(
    ann: Sender, way: Any, name: str, values: list[Any], question: Any
) -> None:
    """The whole description is tried by Schemathesis, too: `make fuzz`."""
    path = re.sub(r"\{\w+\}", quote(name or "patients", safe=""), way.path)
    if way.method == "POST" and path.endswith(("/ask", "/plan")):
        path = path.replace(quote(name, safe=""), "patients") if name else path
    body: dict[str, Any] = dict(zip(way.fields, values, strict=False))
    if "question" in body:
        body["question"], body["epsilon"] = question, 1e-4
    if "questions" in body:
        body["questions"], body["n"] = [question], 10
    status, said = ann(way.method, path, body if way.method == "POST" else None)
    assert status in {*statuses(way), 404, 405}, (status, said)
    assert said.get("error") != "Mistake", (way.path, body, said)
