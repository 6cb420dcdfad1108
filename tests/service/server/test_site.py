"""A site without its line: who may do what, what is charged, and what is refused before that."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, KeyReused, NotPermitted, ParameterError
from discreet.query.asked_question import AskedQuestion
from discreet.releases.release import Release
from discreet.service.server.analyst_ledger import AnalystLedger
from discreet.service.server.api_keys import ApiKeys
from discreet.service.server.question_size import check_size, counted
from discreet.service.server.site import Site
from discreet.service.server.site_answer import plain_result
from discreet.service.server.site_file import UserEntry
from discreet.service.server.site_refusals import NotHere, ReadOnlySite, TooMany, Unrecognised, status_of
from discreet.service.server.site_store import UNSEEN, AskedEntry, SiteStore
from discreet.trust.worker.worker_line import WorkerLine
from tests.service.server.made_site import made_site


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with Site.open(made_site(tmp_path_factory.mktemp("site"))) as one:
        yield one


def user(site: Site, name: str) -> UserEntry:
    return site.file.users[name]


def spent(site: Site, name: str = "patients") -> float:
    return site.data_set(user(site, "cat"), name).balances["data set"].certified


def finished(site: Site, caller: UserEntry, id: str) -> Any:
    for _ in range(600):
        if (found := site.answer(caller, id)).done:
            return found
        time.sleep(0.05)
    raise AssertionError("it was not answered")


def test_a_question_is_charged_once_and_given_again_for_nothing(site: Site) -> None:
    ann, before = user(site, "ann"), spent(site)
    first = site.ask(ann, "patients", "mean of age", epsilon=0.5, key="once")
    again = site.ask(ann, "patients", "mean of age", epsilon=0.5, key="once")
    assert spent(site) == pytest.approx(before + 0.5, rel=1e-6)
    assert (first.result, first.replayed, again.result, again.replayed) == (first.result, False, first.result, True)
    assert first.receipt is not None
    assert first.receipt.key == "ann/once"


def test_an_answer_is_given_again_from_the_ledger_by_another_process(tmp_path: Path) -> None:
    path = made_site(tmp_path)
    with Site.open(path) as site:
        first = site.ask(user(site, "ann"), "patients", "quantile of age q=0.9", epsilon=0.5, key="k")
    with Site.open(path) as site:
        again = site.ask(user(site, "ann"), "patients", "quantile of age q=0.9", epsilon=0.5, key="k")
        assert (again.result, again.replayed) == (first.result, True)
        assert spent(site) == pytest.approx(0.5, rel=1e-6)


def test_what_was_answered_just_before_the_end_is_done_after_the_next_start(tmp_path: Path) -> None:
    path = made_site(tmp_path)
    with Site.open(path) as site:
        first = site.ask(user(site, "ann"), "patients", "mean of age", epsilon=0.5, key="k")
    with sqlite3.connect(tmp_path / "site.state") as state:
        state.execute("update asked set state = 'asked'")  # as where the server was killed before it was written down
        state.execute("insert into asked select 'other', user, data, 'j', question, 1, 0, 'asked', '', day from asked")
    with Site.open(path) as site:
        again = site.answer(user(site, "ann"), first.id)
        assert (again.result, again.replayed) == (first.result, True)
        assert site.counted(user(site, "ann"), "state") == {"asked": 1, "done": 1}


def stored(folder: Path, *ids: str) -> SiteStore:
    """A site's memory with questions that were asked."""
    store = SiteStore(folder / "state")
    for id in ids:
        store.add_asked(AskedEntry(id, "ann", "patients", id, '"count"', 0.1, 0.0, "asked", "", "2026-01-01"))
    return store


def test_a_state_is_on_disk_from_its_moment_on_and_not_before_it(tmp_path: Path) -> None:
    store, elsewhere = stored(tmp_path, "due", "later"), SiteStore(tmp_path / "state")  # as after a kill
    due = time.monotonic() + 1.0
    store.done_at("later", due)
    store.done_at("due", 0.0)
    while (found := elsewhere.asked_by_id("due")) is None or found.state != "done":
        assert time.monotonic() < due, "nobody looked, and it was not written down"
        time.sleep(0.01)
    (found,) = elsewhere.asked(state="asked")
    assert found.id == "later" or time.monotonic() >= due
    store.close()  # waits for it
    assert time.monotonic() >= due
    assert elsewhere.counted("state") == {"done": 2}
    elsewhere.close()


def test_a_state_that_could_not_be_written_down_is_written_down_later(tmp_path: Path) -> None:
    store = stored(tmp_path, "one")
    store._settling = Mock()  # nobody looks by himself
    whole, store._db = store._db, Mock()
    store._db.execute.side_effect = sqlite3.OperationalError("database is locked")
    store.done_at("one", 0.0)
    with pytest.raises(sqlite3.OperationalError):
        store.asked_by_id("one")
    store._db = whole
    assert store.counted("state") == {"done": 1}
    store.close()


def test_who_writes_states_down_goes_on_after_a_failure_and_ends_with_the_site(tmp_path: Path) -> None:
    store, tried = stored(tmp_path, "one"), 0
    settle = store._settle

    def fails(db: sqlite3.Connection) -> None:
        nonlocal tried
        tried += 1
        if tried <= 2:
            raise sqlite3.OperationalError("database is locked")
        settle(db)

    store._settle = fails  # type: ignore[method-assign]
    store.done_at("one", 0.0)
    with sqlite3.connect(tmp_path / "state") as beside:
        for _ in range(200):
            if beside.execute("select state from asked").fetchall() == [("done",)]:
                break
            time.sleep(0.05)
        else:
            raise AssertionError("it was not written down")
    store.close()


def test_a_frozen_data_set_stays_so_for_whoever_asks_while_another_one_is_thawed(tmp_path: Path) -> None:
    class Forgetful(dict[str, Any]):
        """What is forgotten by somebody else just after each look at whether it is there."""

        def __contains__(self, name: object) -> bool:
            found = super().__contains__(name)
            self.clear()
            return found

    store = stored(tmp_path)
    store.freeze("patients", "an audit", "cat")
    assert store.frozen("patients") == ("an audit", "cat")
    store._frozen = Forgetful(store._frozen)
    assert store.frozen("patients") == ("an audit", "cat")
    store.close()


def test_what_somebody_else_just_looked_up_is_no_freeze(tmp_path: Path) -> None:
    class Late(dict[str, Any]):
        """What somebody else looks up just after it was not there."""

        def get(self, name: str, default: Any = None) -> Any:
            found = super().get(name, default)
            self[name] = None
            return found

    store = stored(tmp_path)
    assert store.frozen("patients") is None
    store._frozen, store._looked = Late(), time.monotonic() + 60.0
    assert store.frozen("patients") is None
    store.close()


def test_what_belongs_to_somebody_else_does_not_exist(site: Site) -> None:
    ann, bob, dan = user(site, "ann"), user(site, "bob"), user(site, "dan")
    mine = site.ask(ann, "patients", "mean of age", epsilon=0.1, key="mine")
    absent = []
    for ask in (
        lambda: site.ask(bob, "patients", "mean of age", epsilon=0.1),
        lambda: site.ask(bob, "nothing", "mean of age", epsilon=0.1),
        lambda: site.data_set(bob, "patients"),
        lambda: site.history(bob, "patients"),
        lambda: site.plan(bob, "patients", "mean of age", n=100),
        lambda: site.question(bob, mine.id),
        lambda: site.answer(bob, mine.id),
        lambda: site.answer(dan, mine.id),
        lambda: site.answer(bob, "0" * 32),
        lambda: site.approve(ann, mine.id),
        lambda: site.freeze(ann, "patients", "mine"),
        lambda: site.verify(ann, "patients"),
        lambda: site.whole_history(ann, "patients"),
    ):
        with pytest.raises(NotHere) as refused:
            ask()
        absent.append(refused.value)
    assert {status_of(one) for one in absent} == {404}
    assert [one.name for one in site.data_sets(bob)] == ["staff"]


def test_the_key_of_one_user_is_free_for_another(site: Site) -> None:
    cat = user(site, "cat")
    site.ask(user(site, "ann"), "patients", "mean of age", epsilon=0.1, key="shared")
    assert not site.ask(cat, "patients", "count", epsilon=0.1, key="shared").replayed


def test_a_key_for_another_question_is_refused(site: Site) -> None:
    ann = user(site, "ann")
    site.ask(ann, "patients", "mean of age", epsilon=0.1, key="taken")
    for question, epsilon in (("mean of stay_days", 0.1), ("mean of age", 0.2)):
        with pytest.raises(KeyReused) as refused:
            site.ask(ann, "patients", question, epsilon=epsilon, key="taken")
        assert status_of(refused.value) == 409


def test_what_cannot_be_asked_is_refused_uncharged_and_leaves_its_key_free(site: Site) -> None:
    ann, before = user(site, "ann"), spent(site)
    words = ["mean of agee", "mode of age", "", "mean of age by town where", "SELECT * FROM patients", "KMeans 1 2 3 4"]
    plain = [{"words": 3}, {"statistic": "mean"}, {"learner": "os.system"}, [], None, 3]
    for question in [*words, *plain]:
        with pytest.raises(DiscreetError) as refused:
            site.ask(ann, "patients", question, epsilon=0.5, key="wrong")
        assert status_of(refused.value) == 422, question
    assert spent(site) == before
    assert site.ask(ann, "patients", "count", epsilon=0.1, key="wrong").done


def test_more_than_is_left_is_refused_with_what_is(site: Site) -> None:
    with pytest.raises(BudgetExceeded) as refused:
        site.ask(user(site, "cat"), "patients", "mean of age", epsilon=2000.0)
    assert status_of(refused.value) == 402
    assert 0 < refused.value.values["left"] <= 1000


def test_a_dear_question_waits_for_a_curator_and_is_charged_when_one_agrees(site: Site) -> None:
    ann, cat, before = user(site, "ann"), user(site, "cat"), spent(site)
    waiting = site.ask(ann, "patients", "mean of age", epsilon=3.0, key="dear")
    assert (waiting.state, spent(site)) == ("waiting", before)
    assert [one.id for one in site.approvals(cat)] == [waiting.id]
    site.approve(cat, waiting.id)
    found = finished(site, ann, waiting.id)
    assert found.result["name"] == "mean of age"
    assert spent(site) == pytest.approx(before + 3.0, rel=1e-6)
    with pytest.raises(NotPermitted):
        site.approve(cat, waiting.id)


def test_a_dear_question_may_be_denied_and_is_never_charged(site: Site) -> None:
    ann, cat, before = user(site, "ann"), user(site, "cat"), spent(site)
    waiting = site.ask(ann, "patients", "mean of age", epsilon=4.0, key="no")
    site.deny(cat, waiting.id, "too dear")
    with pytest.raises(NotPermitted, match="too dear"):
        site.ask(ann, "patients", "mean of age", epsilon=4.0, key="no")
    assert spent(site) == before


def test_a_dear_question_that_cannot_be_asked_or_paid_is_refused_at_once(site: Site) -> None:
    ann = user(site, "ann")
    with pytest.raises(ParameterError):
        site.ask(ann, "patients", "mean of agee", epsilon=3.0)
    with pytest.raises(BudgetExceeded):
        site.ask(ann, "patients", "mean of age", epsilon=3000.0)
    assert not site.approvals(ann)


def test_a_learner_is_a_job_whose_model_is_given_again(site: Site) -> None:
    ann = user(site, "ann")
    asked: Any = {"learner": "KMeans", "parameters": {"n_clusters": 2, "columns": ["age"], "random_state": 0}}
    job = site.ask(ann, "patients", asked, epsilon=1.0, key="model")
    found = finished(site, ann, job.id)
    assert len(found.result["attributes"]["cluster_centers_"]) == 2
    assert site.ask(ann, "patients", asked, epsilon=1.0, key="model").result == found.result


def test_a_frozen_data_set_is_not_asked_and_paid_answers_stay(site: Site) -> None:
    ann, cat = user(site, "ann"), user(site, "cat")
    paid = site.ask(ann, "patients", "count", epsilon=0.1, key="before")
    before = len(site.history(ann, "patients"))
    site.freeze(cat, "patients", "an audit")
    try:
        with pytest.raises(NotPermitted, match="an audit"):
            site.ask(ann, "patients", "count", epsilon=0.1)
        assert site.ask(ann, "patients", "count", epsilon=0.1, key="before").result == paid.result
        queued = site.store.add_asked(replace(site.question(ann, paid.id), id="q", key="queued", state="queued"))
        site.desk._work(site._data["patients"], queued)  # it was on its way when somebody froze it
        assert (site.question(ann, "q").state, len(site.history(ann, "patients"))) == ("failed", before)
        assert site.store.moved("q", ("failed",), "dangling")
        with pytest.raises(NotPermitted, match="an audit"):
            site.again(cat, "q")
    finally:
        site.thaw(cat, "patients")
    assert site.ask(ann, "patients", "count", epsilon=0.1).done


def test_plans_need_no_worker(tmp_path: Path) -> None:
    path = made_site(tmp_path)
    (tmp_path / "staff.csv").unlink()
    with Site.open(path) as site:
        found = site.plan(user(site, "bob"), "staff", "mean of pay", n=500, epsilon=0.5)
        assert (found.expectations[0].times or 0) >= 2000
        with pytest.raises(ParameterError, match="100,000"):
            site.plan(user(site, "bob"), "staff", "mean of pay", n=10**6, epsilon=0.5)


def test_a_ledger_that_is_damaged_makes_the_data_set_read_only(tmp_path: Path) -> None:
    path = made_site(tmp_path, Budget(10.0))
    with Site.open(path) as site:
        ann = user(site, "ann")
        site.ask(ann, "patients", "count", epsilon=0.1, key="k")
    (tmp_path / "patients.ledger.head").unlink()
    with Site.open(path) as site:
        for ask in (
            lambda: site.ask(ann, "patients", "count", epsilon=0.1),
            lambda: site.history(ann, "patients"),
            lambda: site.plan(ann, "patients", "count", epsilon=0.1),
        ):
            with pytest.raises(ReadOnlySite, match="owner") as refused:
                ask()
            assert status_of(refused.value) == 503
        assert site.data_set(ann, "patients").trouble
        assert site.data_set(user(site, "bob"), "staff").trouble == ""


def test_a_site_is_served_by_one_process_at_a_time(site: Site) -> None:
    with pytest.raises(ParameterError, match="another process"):
        Site(site.file)


def test_keys_are_recognised_and_everything_else_is_refused_alike(site: Site) -> None:
    key = site.keys.drawn("ann")
    assert site.caller(key).name == "ann"
    assert site.caller(key).name == "ann"  # from memory
    kept = (site.file.beside("site.state")).read_bytes() + site.file.beside("site.state-wal").read_bytes()
    assert key.encode() not in kept
    assert key.rpartition("_")[2].encode() not in kept
    refusals = set()
    wrong = [key + "0", key[:-1], "", "discreet__", "x" * 300, "discreet_" + "0" * 16 + "_" + "0" * 48, "\ud800"]
    for other in [*wrong, site.keys.drawn("gone"), site.keys.drawn("ann", until=time.time() - 1)]:
        with pytest.raises(Unrecognised) as refused:
            site.caller(other)
        refusals.add(status_of(refused.value))
    assert site.caller(key).name == "ann"  # its hash is at hand again
    site.store.revoke_keys("ann")
    with pytest.raises(Unrecognised):
        site.caller(key)
    assert site.known_caller(key) is None  # so that it is looked at beside others that nobody knows
    key = site.keys.drawn("ann")
    assert site.caller(key).name == "ann"
    elsewhere = SiteStore(site.file.beside("site.state"))
    ApiKeys(elsewhere).revoke("ann")
    elsewhere.close()
    time.sleep(2 * UNSEEN)
    assert site.known_caller(key) is None
    with pytest.raises(Unrecognised):
        site.caller(key)
    assert refusals == {401}


def test_what_has_expired_stays_so_where_the_clock_is_moved_back(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    now, clock = time.time(), Mock()
    monkeypatch.setattr("discreet.service.server.api_keys.time", clock)
    clock.time.return_value = now
    key = site.keys.drawn("ann", until=now + 60)
    session = site.login(key)
    clock.time.return_value = now + 10**6
    for look in (lambda: site.caller(key), lambda: site.session(session.token)):
        with pytest.raises(Unrecognised):
            look()
    clock.time.return_value = now
    for look in (lambda: site.caller(key), lambda: site.session(session.token)):
        with pytest.raises(Unrecognised):
            look()


def test_lists_are_bounded_and_counted_whole(site: Site) -> None:
    ann, cat = user(site, "ann"), user(site, "cat")
    for number in range(3):
        site.ask(ann, "patients", "count", epsilon=0.01, key=f"listed {number}")
    assert [one.key for one in site.asked(ann, most=2)] == ["listed 2", "listed 1"]
    assert site.own_asked(user(site, "dan")) == []
    assert sum(site.counted(ann, "state").values()) == site.counted(cat, "user")["ann"] >= 3


def test_a_session_knows_its_user_and_ends(site: Site) -> None:
    session = site.login(site.keys.drawn("cat"))
    assert site.caller_of(session.token).role == "curator"
    site.logout(session.token)
    with pytest.raises(Unrecognised):
        site.session(session.token)


def test_what_waits_is_bounded_for_each_caller(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.service.server.question_desk.UNFINISHED", 2)
    with Site.open(made_site(tmp_path)) as site:
        ann, cat = user(site, "ann"), user(site, "cat")
        site.desk._submit = lambda *job: None  # type: ignore[method-assign]
        for epsilon, question in ((1.0, "KMeans n_clusters=2 columns=['age']"), (3.0, "count")):
            site.ask(ann, "patients", question, epsilon=epsilon, key=question)
        for epsilon, question in ((1.0, "KMeans n_clusters=3 columns=['age']"), (3.0, "mean of age")):
            with pytest.raises(TooMany):
                site.ask(ann, "patients", question, epsilon=epsilon)
        assert site.ask(ann, "patients", "count", epsilon=3.0, key="count").state == "waiting"
        assert site.ask(cat, "patients", "KMeans n_clusters=2 columns=['age']", epsilon=1.0).state == "queued"


DEEP = {"max_iter": 100_000}
LARGE: list[Any] = [
    "synthesize rows=16777216",
    "histogram of age bins=20000",
    "report bins=20000",
    "KMeans n_clusters=20000 columns=['age']",
    {"statistic": "quantile", "options": {"column": "age", "q": [one / 2000 for one in range(1, 1500)]}},
    {
        "learner": "PrivatePipeline",
        "parameters": {"steps": [["m", {"learner": "PCA", "parameters": {"max_iter": 1e5}}]]},
    },
    {"learner": "PrivateSearchCV", "parameters": {"param_grid": {"m__max_iter": [8, 20000]}}},
]


def test_what_would_fill_the_server_is_refused_before_anything_is_charged_or_noted(site: Site) -> None:
    ann, before = user(site, "ann"), spent(site)
    noted = site.asked(ann)
    for question in LARGE:
        for ask in (
            lambda question=question: site.ask(ann, "patients", question, epsilon=0.5),
            lambda question=question: site.plan(ann, "patients", question, epsilon=0.5),
        ):
            with pytest.raises(ParameterError, match="a site makes at most") as refused:
                ask()
            assert status_of(refused.value) == 422
    assert (spent(site), site.asked(ann)) == (before, noted)


def test_every_parameter_that_counts_something_is_bounded() -> None:
    assert {"rows", "bins", "n_components", "n_clusters", "n_estimators", "max_depth", "blocks"} <= counted()
    for name in counted():
        check_size(AskedQuestion({}, "a question", "learner", None, {name: 2}), 7)
        with pytest.raises(ParameterError, match=f"{name} is 8388608, and a site makes at most"):
            check_size(AskedQuestion({}, "a question", "learner", None, {name: 2**23}), 1)


def test_a_result_that_is_too_long_to_be_shown_is_not_written_out() -> None:
    made = Mock(spec=Release, records=np.zeros(2**18 + 1))
    assert plain_result(made)["text"] == "too long to be shown; see the client"
    made.to_dict.assert_not_called()


def test_analysts_are_not_told_where_things_are(tmp_path: Path) -> None:
    path = made_site(tmp_path)
    with Site.open(path) as site:
        ann, cat, dan = user(site, "ann"), user(site, "cat"), user(site, "dan")
        data = site._data["patients"]
        data.line.close()
        gone = replace(data.line.place, source=str(tmp_path / "gone.csv"))
        data.line = WorkerLine(gone)
        for question in ("count", "KMeans n_clusters=2 columns=['age']"):
            with pytest.raises(DiscreetError, match="cannot be opened") as refused:
                finished(site, ann, site.ask(ann, "patients", question, epsilon=0.1, key=question).id)
            assert str(tmp_path) not in str(refused.value)
        assert "gone.csv" not in site.data_set(ann, "patients").unopened != ""
        assert "gone.csv" in site.data_set(cat, "patients").unopened
        data.trouble = f"ledger {tmp_path} is damaged"
        with pytest.raises(ReadOnlySite) as read_only:
            site.ask(ann, "patients", "count", epsilon=0.1)
        assert str(tmp_path) not in str(read_only.value)
        assert str(tmp_path) not in site.data_set(ann, "patients").trouble != ""
        assert [str(tmp_path) in site.data_set(one, "patients").trouble for one in (cat, dan)] == [True, True]


def test_large_answers_are_not_all_kept_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Site.open(made_site(tmp_path)) as site:
        ann = user(site, "ann")
        first = site.ask(ann, "patients", "count", epsilon=0.1, key="first")
        assert site.desk._bytes == first.size > 0
        monkeypatch.setattr("discreet.service.server.question_desk.AT_HAND", first.size + 10)
        second = site.ask(ann, "patients", "count", epsilon=0.1, key="second")
        assert (list(site.desk._answers), site.desk._bytes) == ([second.id], second.size)
        assert site.answer(ann, first.id).text == first.text  # from the ledger


def test_long_questions_go_on_after_a_restart(tmp_path: Path) -> None:
    path, asked = made_site(tmp_path), "KMeans n_clusters=2 columns=['age']"
    with Site.open(path) as site:
        site.desk._submit = lambda *job: None  # type: ignore[method-assign]
        waits = site.ask(user(site, "ann"), "patients", asked, epsilon=1.0, key="waits")
        works = site.ask(user(site, "ann"), "patients", asked, epsilon=1.0, key="works")
        assert site.store.moved(works.id, ("queued",), "running")
    with Site.open(path) as site:
        for one in (waits, works):
            assert finished(site, user(site, "ann"), one.id).result["kind"] == "KMeans"
        assert spent(site) == pytest.approx(2.0, rel=0.2)


def test_a_long_question_whose_charge_has_no_result_waits_for_a_curator(tmp_path: Path) -> None:
    path, asked = made_site(tmp_path), "KMeans n_clusters=2 columns=['age']"
    with Site.open(path) as site:
        ann = user(site, "ann")
        site.desk._submit = lambda *job: None  # type: ignore[method-assign]
        lost = site.ask(ann, "patients", asked, epsilon=1.0, key="lost")
        ledger = AnalystLedger(site._data["patients"]._ledger, "ann")  # type: ignore[arg-type]
        ledger.commit = Mock(side_effect=KeyboardInterrupt)  # type: ignore[method-assign]
        with pytest.raises(KeyboardInterrupt):  # as if the process died between the charge and its result
            AskedQuestion.read(asked).ask(site._data["patients"].private(ledger), Budget(1.0), "ann/lost")
    with Site.open(path) as site:
        ann, cat = user(site, "ann"), user(site, "cat")
        for _ in range(600):
            if site.question(ann, lost.id).state == "dangling":
                break
            time.sleep(0.05)
        assert [one.key for one in site.dangling(cat, "patients")] == ["ann/lost"]
        again = site.again(cat, lost.id)
        assert finished(site, ann, again.id).done
        assert len(site.history(ann, "patients")) == 2
