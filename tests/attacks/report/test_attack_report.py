"""Reports of attacks: which were run, what they share, what a page shows and what it does not."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from functools import cache
from typing import Any, ClassVar

import numpy as np
import pytest
from sklearn.linear_model import RidgeClassifier
from sklearn.neighbors import KNeighborsClassifier

from discreet.attacks import (
    AttackReport,
    AttackResult,
    MembershipData,
    ModelMaterial,
    Prepared,
    TableMaterial,
    ThreatModel,
    Unfit,
    attacked,
)
from discreet.attacks.material import attacks, prepared
from discreet.attacks.membership.model_target import ModelTarget
from discreet.core.errors import ParameterError
from discreet.core.events import PureLoss
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.schema.roles import Roles
from discreet.schema.schema import Category, Column, Number, Schema
from tests.attacks.membership.made import records
from tests.query.test_page import HOSTILE, read

DATA = records(150)
MODEL = KNeighborsClassifier(1).fit(DATA.members_X, DATA.members_y)
BY_HEART = ModelMaterial(MODEL, DATA, tuple("abcdef"))
COIN = ModelMaterial(lambda rows: np.tile([0.5, 0.5], (len(rows), 1)), DATA)


@cache
def of_nearest() -> AttackReport:
    """The report on a model that knows its members by heart, made once."""
    return attacked(BY_HEART, name="neighbors")


def receipt(epsilon: float) -> Receipt:
    return Receipt("fit", PureLoss(epsilon), epsilon, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "k", "")


def test_every_attack_of_the_room_is_found_and_is_run_or_says_why_not() -> None:
    report = of_nearest()
    assert {"LabelOnly", "ThresholdAttack", "ScoreboardRH", "IndependentComponents"} <= set(attacks())
    ran = {result.attack for result in report.results}
    assert {"ThresholdAttack", "LabelOnly"} <= ran
    assert set(report.unfit) >= {"Scoreboard", "Differencing"}
    assert all(kind in ran or report.unfit[kind] for kind in attacks() if kind in ("LabelOnly", "ThresholdAttack"))
    assert all(isinstance(one, Prepared | Unfit) for one in prepared(BY_HEART).values())


def test_what_gives_members_away_is_told_with_rows_and_with_what_to_change() -> None:
    report = of_nearest()
    assert len(report.succeeded) >= 2
    assert set(report.worst) <= set(range(150))
    assert report.worst
    assert report.results[0].epsilon == max(result.epsilon for result in report.results)
    assert any("differential privacy" in text for text in report.advice)
    assert any("Labels alone" in text for text in report.advice)
    same = attacked(replace(BY_HEART, kind="sklearn.linear_model._logistic.LogisticRegression"))
    assert same.advice[0].startswith("Take `discreet.learners.LogisticRegression`")


def test_a_target_without_information_raises_no_alarm_and_none_is_no_proof() -> None:
    report = attacked(COIN)
    assert (report.succeeded, report.worst) == ((), ())
    assert "no proof" in report.title
    assert "Without a receipt" in report.advice[0]


def test_attacks_share_one_risk() -> None:
    report = attacked(BY_HEART, confidence=0.9)
    assert {result.confidence for result in report.results} == {1 - (1 - 0.9) / len(report.results)}
    with pytest.raises(ParameterError, match="confidence"):
        attacked(BY_HEART, confidence=1.0)


def test_a_receipt_says_what_is_allowed_and_whether_that_was_exceeded() -> None:
    report = attacked(BY_HEART, receipt=receipt(0.05))
    assert report.beyond
    assert "audit" in report.advice[0]
    assert "Beyond what the receipt allows" in report.to_html()
    assert json.loads(report.to_json())["beyond the receipt"]
    sound = attacked(COIN, receipt=receipt(0.05))
    assert sound.beyond == ()
    assert "Keep the receipt" in sound.advice[0]


def test_a_model_without_probabilities_is_attacked_by_its_labels() -> None:
    report = attacked(ModelMaterial(RidgeClassifier().fit(DATA.members_X, DATA.members_y), DATA))
    assert "LabelOnly" in {result.attack for result in report.results}
    assert "LabelOnly needs labels alone" in report.unfit["ThresholdAttack"]


def test_a_rotated_table_is_undone_and_other_tables_say_what_is_missing() -> None:
    rows = np.random.default_rng(0).uniform(size=(800, 2))
    schema = Schema({"a": Number(0, 1), "b": Number(0, 1)})
    turned = TableMaterial(rows @ np.array([[0.6, -0.8], [0.8, 0.6]]), rows, schema)
    (found,) = [result for result in attacked(turned).results if result.attack == "IndependentComponents"]
    assert (found.right, found.trials) == (2, 2)
    named = Schema({"a": Number(0, 1), "b": Category(("x", "y"))})
    assert "numbers alone" in attacked(TableMaterial(rows, rows, named)).unfit["IndependentComponents"]
    assert "row for each" in attacked(TableMaterial(rows[1:], rows, schema)).unfit["IndependentComponents"]
    assert isinstance(turned.membership, Unfit)
    with pytest.raises(ParameterError, match="original"):
        TableMaterial(rows, rows[:, :1], schema)
    assert not TableMaterial(np.random.default_rng(1).uniform(size=(800, 2)), rows, schema).row_by_row
    few = TableMaterial(rows, rows, schema, rows[:5] + 2).membership
    assert isinstance(few, Unfit)
    assert "Give at least 100 others" in few.reason


def test_every_attack_on_tables_is_made_of_what_the_owner_gives() -> None:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.normal(size=(600, 1)) @ rng.normal(size=(1, 4)), rng.integers(0, 3, 600)])
    columns: dict[str, Column] = {**{name: Number(-9, 9) for name in "abcd"}, "kind": Category(("x", "y", "z"))}
    roles = Roles({"a": "quasi-identifier", "b": "quasi-identifier"})
    whole = attacked(TableMaterial(rows[:300], rows[:300], Schema(columns), rows[300:], roles))
    named = {result.attack for result in whole.succeeded}
    assert {"FellegiSunter", "Linkability", "QuasiIdentifiers", "SinglingOut"} <= named
    assert "numbers alone" in whole.unfit["KnownSamples"]
    alone = attacked(TableMaterial(rows[:300], rows[:300], Schema(columns)))
    assert "give --others" in alone.unfit["SinglingOut"] + alone.unfit["Linkability"]
    assert "quasi-identifier" in alone.unfit["QuasiIdentifiers"]
    numbers, noise = Schema(dict([*columns.items()][:4])), rng.normal(0, 0.5, (300, 4))
    noisy = attacked(TableMaterial(rows[:300, :4] + noise, rows[:300, :4], numbers))
    assert {"BayesEstimate", "SpectralFilter"} <= {result.attack for result in noisy.succeeded}
    assert "noise in every column" in attacked(TableMaterial(rows[:, :4], rows[:, :4], numbers)).unfit["SpectralFilter"]


def test_attacks_that_compare_train_models_like_the_target() -> None:
    report = of_nearest()
    assert {"LiRA", "RMIA", "ShadowModels"} <= {result.attack for result in report.results}
    assert "give `fitted`" in attacked(COIN).unfit["LiRA"]
    ignored = replace(BY_HEART, fitted=lambda X, y: MODEL)
    assert "ignores its records" in attacked(ignored).unfit["LiRA"]


def test_references_are_fitted_once_for_all_attacks_that_compare() -> None:
    fits: list[int] = []

    def fitted(X: Any, y: Any) -> Any:
        fits.append(len(X))
        return KNeighborsClassifier(1).fit(X, y)

    report = attacked(replace(BY_HEART, fitted=fitted, number=4))
    assert {"LiRA", "RMIA", "ShadowModels"} <= {result.attack for result in report.results}
    assert fits == [150] * 4


@dataclass(frozen=True)
class _Careless:
    """An attack that fails with what a record holds."""

    paper: ClassVar[str] = "none"
    threat: ClassVar[ThreatModel] = ThreatModel("labels", "nothing")

    @classmethod
    def fitting(cls, material: Any) -> Prepared:
        return Prepared(cls(), material.model)

    def run(self, target: Any) -> AttackResult:
        raise ZeroDivisionError("salary 31337")


def test_an_attack_that_fails_is_named_and_quotes_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("discreet.attacks.material.attacks", lambda: {"Careless": _Careless})
    report = attacked(BY_HEART)
    assert report.unfit == {"Careless": "It could not be run: it raised ZeroDivisionError."}
    assert "31337" not in report.to_html() + report.to_json() + str(report)


def test_the_page_says_first_that_it_is_not_private_and_holds_no_script_and_no_value() -> None:
    named = replace(BY_HEART, columns=(HOSTILE, *"bcdef"))
    text = attacked(named, name=HOSTILE).to_html()
    tags = read(text)
    assert not {"script", "img", "link", "iframe"} & {tag for tag, _ in tags.found}
    assert not [name for _, attributes in tags.found for name in attributes if name.startswith("on")]
    body = text.partition("<main>")[2]
    assert body.startswith("<p class='warning'><b>NOT PRIVATE")
    values = {f"{value:.4g}" for value in DATA.members_X.ravel()[:200] if len(f"{value:.4g}") > 5}
    assert not [value for value in values if value in body]
    assert "\x1b" not in text
    assert "polyline" in text


def test_members_that_are_easier_by_a_shift_of_years_are_told_first() -> None:
    """Members of one year, others of the next, in which all values have grown: that tells them apart by itself."""
    rng = np.random.default_rng(5)
    years = np.r_[np.zeros(150), np.ones(150)]
    X = rng.normal(size=(300, 6)) + years[:, None]
    y = rng.integers(0, 2, 300)
    data = MembershipData.of(X[:150], y[:150], X[150:], y[150:])
    report = attacked(ModelMaterial(KNeighborsClassifier(5).fit(X[:150], y[:150]), data, number=0))
    assert "without the target" in report.warnings[0]
    body = report.to_html().partition("<main>")[2]
    assert body.index("<b>Mind:</b>") < body.index("What an adversary can do")
    assert "warning 1" in str(report)


def test_a_target_that_raises_is_a_finding() -> None:
    def fragile(rows: Any) -> Any:
        if (rows[:, 0] > 1.5).any():
            raise ValueError("no")
        return np.tile([0.5, 0.5], (len(rows), 1))

    report = attacked(ModelMaterial(fragile, DATA))
    (found,) = [result for result in report.results if result.attack == "ThresholdAttack"]
    assert found.details["questions on which the target raised"] > 0
    assert ModelTarget.of(fragile).raised == 0


def test_every_form_says_the_same() -> None:
    report = of_nearest()
    data = json.loads(report.to_json())
    assert [one["attack"] for one in data["attacks"]] == [result.attack for result in report.results]
    assert data["attacks"][0]["success"] == report.results[0].success
    assert "NOT PRIVATE" in data["note"]
    assert "NOT PRIVATE" in str(report)
    assert report.to_pandas()["success"].iloc[0] == report.results[0].success
    assert "discreet-report" in report._repr_html_()


def test_where_no_attack_could_be_run_nothing_is_said_to_be_safe() -> None:
    """Texts as labels, and a function that does not say which of its columns is which."""
    data = records(150)
    told = MembershipData.of(data.members_X, data.members_y.astype(str), data.others_X, data.others_y.astype(str))
    report = attacked(ModelMaterial(lambda rows: np.full((len(rows), 2), 0.5), told))
    assert not report.runs
    assert "no attack could be run, which shows nothing" in str(report)
    assert "without the names of classes" in str(report)
