"""A data set that is elsewhere, asked as one that is here."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, EngineFailure, KeyReused, NotPermitted, ParameterError
from discreet.core.events import PureLoss
from discreet.crypto.errors import Disagreement
from discreet.crypto.identity import Identity
from discreet.learners import KMeans, LinearRegression, OneHotEncoder, PrivatePipeline
from discreet.ledger.checkpoints import check_signed
from discreet.noise.system_bits import system_bits
from discreet.query.aggregates import count, mean
from discreet.service.client.connect import SiteConnection, connect
from discreet.service.client.site_line import SiteLine
from discreet.service.key_file import write_identity
from discreet.service.server.serving_site import ServedSite, served
from discreet.service.server.site import Site
from discreet.service.server.site_refusals import NotHere, Unrecognised
from tests.service.server.made_site import TEXT, made_site


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedSite]:
    folder = tmp_path_factory.mktemp("served")
    write_identity(folder / "identity.key", Identity.drawn("clinic", system_bits()))
    with Site.open(made_site(folder, text=f'identity = "identity.key"\n{TEXT}')) as site, served(site) as one:
        yield one


@pytest.fixture(scope="module")
def site(server: ServedSite) -> Iterator[SiteConnection]:
    with connect(server.address, key=server.site.keys.drawn("ann")) as one:
        yield one


def test_statistics_of_every_form_are_charged_there_and_read_here(site: SiteConnection) -> None:
    patients = site["patients"]
    before = patients.ledger.balance().certified
    older = patients.where("age >= 50").derive(hours="stay_days * 24")
    found = {
        "mean": discreet.mean(patients, "age", epsilon=0.5).value,
        "hours": discreet.mean(older, "hours", epsilon=0.5).value,
        "quantile": discreet.quantile(patients, "age", q=(0.5,), epsilon=0.5).values[0],
        "groups": discreet.mean(patients, "age", by="sex", epsilon=0.5)["mean"].values[0],
        "sql": patients.sql("SELECT avg(age) AS a FROM patients", epsilon=0.5)["a"].values[0],
        "by": patients.group_by("sex").aggregate("mean of age").release(epsilon=0.5)["mean of age"].values[0],
    }
    assert abs(found["mean"] - 52.4) < 2
    assert abs(found["hours"] - 145) < 30
    assert abs(found["quantile"] - 52.5) < 5
    assert abs(found["groups"] - 49.5) < 5
    assert abs(found["sql"] - 52.4) < 3
    assert abs(found["by"] - 49.5) < 5
    assert patients.ledger.balance().certified == pytest.approx(before + 3.0, rel=1e-3)


def test_several_statistics_of_groups_are_those_of_the_site(site: SiteConnection) -> None:
    patients = site["patients"].where("age >= 20").derive(hours="stay_days * 24")
    bounds = {"age": {"f": (18, 60), "m": (40, 95), "x": (18, 95)}}
    before = patients.ledger.balance().certified
    asked = patients.group_by("sex").aggregate(n=count(), age=mean("age"), hours=mean("hours"), bounds=bounds)
    table = asked.release(epsilon=0.5, confidence=0.5)
    assert patients.ledger.balance().certified == pytest.approx(before + 0.5, rel=1e-3)
    plain = patients.group_by("sex").aggregate(age=mean("age")).release(epsilon=0.5)
    assert table.confidence == 0.5
    assert 1 < plain["age"].values[0] - table["age"].values[0] < 8  # women above 60 count as 60
    assert 0 < table["age"].values[1] - plain["age"].values[1] < 8  # and men below 40 as 40
    with pytest.raises(ParameterError, match="where is said of one statistic"):
        patients.group_by("sex").aggregate(mean("age", where="age > 50"))


def test_texts_reports_and_tables_are_answered_too(site: SiteConnection) -> None:
    patients = site["patients"]
    assert "Alderford" in discreet.key_counts(patients, "town", epsilon=1.0, delta=1e-6).tabulated().labels["town"]
    assert [one.name for one in discreet.profile(patients, Budget(1.0, 1e-6), bins=4).columns][:2] == ["age", "sex"]
    assert len(discreet.synthesize(patients, ["age", "sex"], epsilon=1.0, random_state=1).records) > 4000


def test_a_learner_is_the_one_that_the_site_fitted(site: SiteConnection, server: ServedSite) -> None:
    patients = site["patients"]
    model = KMeans(2, columns=("age",), epsilon=1.0).fit(patients, key="two")
    again = KMeans(2, columns=("age",), epsilon=1.0).fit(patients, key="two")
    assert not model.receipt_.replayed
    assert again.receipt_.replayed
    np.testing.assert_array_equal(model.cluster_centers_, again.cluster_centers_)
    (entry,) = [one for one in server.site.store.asked("ann") if one.key == "two"]
    there = server.site.answer(server.site.file.users["ann"], entry.id)
    assert there.result is not None
    np.testing.assert_array_equal(there.result["attributes"]["cluster_centers_"], model.cluster_centers_)
    steps = [("codes", OneHotEncoder()), ("line", LinearRegression())]
    pipeline = PrivatePipeline(steps, target="stay_days", epsilon=5.0 / 2).fit(site["patients"].where("age >= 18"))
    assert pipeline.receipt_.where == "age >= 18"


def test_a_plan_needs_the_schema_alone_and_knows_what_the_account_pays(site: SiteConnection) -> None:
    found = discreet.plan(site["patients"], "mean of age", n=5000, epsilon=0.5)
    assert found.expectations[0].times is not None
    assert found.expectations[0].times > 100


def test_the_receipt_says_what_was_charged_there(site: SiteConnection) -> None:
    patients = site["patients"]
    found = discreet.mean(patients, "age", epsilon=0.25, key="monday")
    assert (found.receipt.key, found.receipt.replayed, found.receipt.secret) == ("ann/monday", False, True)
    again = discreet.mean(patients, "age", epsilon=0.25, key="monday")
    assert (again.value, again.receipt.replayed) == (found.value, True)
    assert any(one.key == "ann/monday" and one.committed for one in patients.ledger.entries())


def test_refusals_are_those_of_the_library(site: SiteConnection, server: ServedSite) -> None:
    patients = site["patients"]
    discreet.mean(patients, "age", epsilon=0.1, key="taken")
    refused: list[tuple[Any, Callable[[], Any]]] = [
        (KeyReused, lambda: discreet.mean(patients, "age", epsilon=0.2, key="taken")),
        (BudgetExceeded, lambda: discreet.histogram(patients, "age", epsilon=90000.0)),
        (NotHere, lambda: site["staff"]),
        (NotHere, lambda: site.answer("0" * 32)),
        (ParameterError, lambda: discreet.mean(patients, "agee", epsilon=0.1)),
        (NotPermitted, lambda: patients.permit(PureLoss(0.1), "mine")),
        (Unrecognised, lambda: connect(server.address, key="discreet_0_0")),
    ]
    for kind, ask in refused:
        with pytest.raises(kind):
            ask()


def test_a_question_that_waits_for_a_curator_is_answered_later_under_its_key(
    site: SiteConnection, server: ServedSite
) -> None:
    patients, cat = site["patients"], server.site.file.users["cat"]
    with pytest.raises(NotPermitted, match="waits for a curator"):
        discreet.mean(patients, "age", epsilon=3.0, key="dear")
    (waiting,) = server.site.approvals(cat)
    server.site.approve(cat, waiting.id)
    assert abs(discreet.mean(patients, "age", epsilon=3.0, key="dear").value - 52.4) < 1


def test_a_key_never_leaves_in_the_clear(site: SiteConnection) -> None:
    for address in ("http://example.org", "ftp://127.0.0.1", "https://user@127.0.0.1", "127.0.0.1:80", "http://"):
        with pytest.raises(ParameterError):
            SiteLine(address, "discreet_0_0")
    for key in ("", "a\r\nX: y", "clé", "a b"):
        with pytest.raises(ParameterError):
            SiteLine("http://127.0.0.1:1", key)
    assert "discreet_" not in repr(site)


class Liar(BaseHTTPRequestHandler):
    """Answers with what it is told to, in place of a site."""

    said: tuple[int, bytes] = (200, b"{}")
    tries = 0

    def do_GET(self) -> None:
        self.do_POST()

    def do_POST(self) -> None:
        type(self).tries += 1
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        status, body = self.said
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing."""


@pytest.fixture
def lying(site: SiteConnection) -> Iterator[discreet.PrivateData]:
    with HTTPServer(("127.0.0.1", 0), Liar) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        patients = site["patients"]
        assert patients.ledger.budget.epsilon > 0  # looked at before the lies begin
        patients.ledger._line = SiteLine(f"http://127.0.0.1:{server.server_address[1]}", "discreet_0_0")  # type: ignore
        yield patients
        patients.ledger._line.close()  # type: ignore[attr-defined]
        server.shutdown()


def test_a_site_that_lies_is_refused(lying: discreet.PrivateData, site: SiteConnection) -> None:
    true = site._line.post("data", "patients", "ask", question="mean of age", epsilon=0.5, stored=True)[1]
    other = json.loads(json.dumps(true))
    other["paid"][0]["event"]["event"]["multiplier"] = 9.0
    unsigned = json.loads(json.dumps(other))
    unsigned["paid"][0]["checkpoint"] = None  # by which it would be found out
    answer: Any
    for answer in ({}, {"paid": []}, {"paid": [], "kept": {}}, {"paid": [{}], "kept": {}}, [], other, unsigned):
        Liar.said = 200, json.dumps(answer).encode()
        with pytest.raises(Disagreement):
            discreet.mean(lying, "age", epsilon=0.5)
    Liar.said = 200, json.dumps(true).encode()
    with pytest.raises(KeyReused):  # the releases of another question
        discreet.mean(lying, "weight_kg", epsilon=0.5)
    Liar.said = 418, b"<html>"
    with pytest.raises(EngineFailure):
        discreet.mean(lying, "age", epsilon=0.5)


def test_a_checkpoint_of_another_charge_is_refused(
    lying: discreet.PrivateData, site: SiteConnection, server: ServedSite
) -> None:
    """What it says of the price is computed here, from the event."""
    asked = {"question": "mean of age", "epsilon": 0.5, "stored": True}
    true, other = (site._line.post("data", "patients", "ask", **asked)[1] for _ in range(2))
    Liar.said = 200, json.dumps(true).encode()
    receipt = discreet.mean(lying, "age", epsilon=0.5).receipt
    assert server.site.identity is not None
    assert check_signed(receipt, "clinic", server.site.identity.public).signer == "clinic"
    for name in ("epsilon", "head", "result"):
        lie = json.loads(json.dumps(true))
        lie["paid"][0]["checkpoint"][name] = 0.1 if name == "epsilon" else other["paid"][0]["checkpoint"][name]
        Liar.said = 200, json.dumps(lie).encode()
        with pytest.raises(Disagreement):
            discreet.mean(lying, "age", epsilon=0.5)


def test_a_site_that_is_busy_is_asked_again_under_the_same_key(lying: discreet.PrivateData) -> None:
    Liar.said, Liar.tries = (
        (503, b'{"error": "EngineFailure", "asked": "", "obstacle": "", "remedy": "", "consequence": ""}'),
        0,
    )
    with pytest.raises(DiscreetError):
        discreet.mean(lying, "age", epsilon=0.5)
    assert Liar.tries == 5


def test_what_a_site_says_of_itself_rewrites_no_terminal_and_may_be_anything(site: SiteConnection) -> None:
    with HTTPServer(("127.0.0.1", 0), Liar) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        address = f"http://127.0.0.1:{server.server_address[1]}"
        Liar.said = 200, json.dumps({"site": "a\x1b[2J\nb", "user": "\u202eann", "role": "analyst"}).encode()
        with connect(address, key="discreet_0_0") as liar:
            assert repr(liar).isprintable()
            view = site._line.get("data", "patients")
            said: Any
            for said in (None, 3, [], {}, {"data": 3}, {"data": [3]}, {"asked": {}}, view | {"units": "many"}):
                Liar.said = 200, json.dumps(said).encode()
                for asking in (lambda: liar["patients"], lambda: list(liar), liar.asked):
                    with pytest.raises(Disagreement):
                        asking()
            Liar.said = 200, json.dumps({"data": [{"name": "a\x1b[2J"}]}).encode()
            assert all(name.isprintable() for name in liar)
        server.shutdown()


def test_a_site_that_is_never_done_is_not_waited_for_for_ever(
    lying: discreet.PrivateData, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks: list[float] = []
    monkeypatch.setattr("time.sleep", looks.append)
    monkeypatch.setattr("discreet.service.client.site_ledger.MOST_LOOKS", 7)
    Liar.said = 202, b'{"state": "running", "id": "1"}'
    with pytest.raises(EngineFailure, match="still being worked on"):
        discreet.mean(lying, "age", epsilon=0.5)
    assert len(looks) == 7
    said: Any
    for said in ({}, [], None, {"state": 3}, {"state": "running"}):
        Liar.said = 202, json.dumps(said).encode()
        with pytest.raises(Disagreement):
            discreet.mean(lying, "age", epsilon=0.5)
