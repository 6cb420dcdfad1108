"""Private evaluation: what it says is close to the exact figures, under every trust model, and what it promises."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Exact
from sklearn.metrics import balanced_accuracy_score, confusion_matrix, f1_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB as ExactNB

from discreet.accounting.accountant import pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, KeyReused
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.preprocessing.scalers import StandardScaler
from discreet.learners.selection.contrasts import CellShare
from discreet.learners.selection.evaluate import evaluate
from discreet.learners.selection.evaluation import Evaluation
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.learners.selection.score_cells import FINE, placed, probability_at, scored, step_of
from discreet.learners.selection.score_table import ScoreCells, ScoreSides, ScoreTable, score_plan
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.tables.contingency import contingency_between_of, contingency_of
from discreet.questions.tables.tree import Tree
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import Spread, spread
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.matrix import Matrix
from tests.learners.audited_sum import check_sum, worst

SCHEMA = Schema({"a": Number(-4, 4), "b": Number(-4, 4), "y": Category((0, 1))})


def people(n: int = 8000, seed: int = 0) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    X = rng.normal(0, 1, (n, 2)).clip(-4, 4)
    return X, (X @ [2.0, -1.0] + rng.logistic(0, 1, n) > 0).astype(int)


MODEL = Exact().fit(*people(3000, 1))


@pytest.fixture(scope="module")
def learned() -> Any:
    """A private model."""
    return LogisticRegression(bounds=(-4, 4), classes=[0, 1], epsilon=50.0, max_iter=3).fit(*people(3000, 1))


def private(n: int, budget: Budget, trust: str = "curator", seed: int = 0) -> PrivateData:
    matrix = np.column_stack(people(n, seed))
    if trust == "parties":
        parts = {f"p{i}": Matrix(matrix[i::3], SCHEMA) for i in range(3)}
        return PrivateData(SecureSum.rehearsal(parts, SCHEMA, threshold=2), MemoryLedger(budget))
    kind = Local if trust == "local" else Curator
    return PrivateData(kind(Matrix(matrix, SCHEMA)), MemoryLedger(budget))


def test_the_figures_are_close_to_the_exact_ones() -> None:
    X, y = people()
    found = evaluate(MODEL, X, y, epsilon=1.0)
    assert found.accuracy.value == pytest.approx(MODEL.score(X, y), abs=0.01)
    assert found.auc.value == pytest.approx(roc_auc_score(y, MODEL.predict_proba(X)[:, 1]), abs=0.01)
    exact = confusion_matrix(y, MODEL.predict(X))
    np.testing.assert_allclose(found.confusion.values.reshape(2, 2), exact, atol=60)
    p, curve = MODEL.predict_proba(X)[:, 1], found.calibration
    assert np.abs(curve.values - np.array(curve.labels["score"])).max() < 0.15  # the model is calibrated
    q = np.clip(p, 2.0**-14, 1 - 2.0**-14)
    assert found.log_loss.value == pytest.approx(-np.log(np.where(y == 1, q, 1 - q)).mean(), abs=0.02)
    assert found.brier.value == pytest.approx(np.square(p - y).mean(), abs=0.01)
    assert found.recall[1].value == pytest.approx(exact[1, 1] / exact[1].sum(), abs=0.02)
    assert found.precision[1].value == pytest.approx(exact[1, 1] / exact[:, 1].sum(), abs=0.02)
    assert found.f1[0].value == pytest.approx(f1_score(y, MODEL.predict(X), pos_label=0), abs=0.02)
    assert found.balanced_accuracy.value == pytest.approx(balanced_accuracy_score(y, MODEL.predict(X)), abs=0.02)
    assert found.receipt.epsilon == pytest.approx(1.0)


class Given:
    """Scores that are the only feature."""

    classes_, n_features_in_ = np.array([0, 1]), 1

    def predict_proba(self, X: Any) -> Array:
        p = np.asarray(X, dtype=float)[:, 0]
        return np.column_stack([1 - p, p])


def rare(n: int, rate: float, kind: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Scores and classes, the second of which is as rare as this or a little more frequent."""
    z = rng.normal(0, 1.2, n)
    middle = np.log(rate / (1 - rate)) - 0.5
    y = (rng.random(n) < 1 / (1 + np.exp(-z - middle))).astype(int)
    about = {"smooth": z, "tied": np.round(z), "constant": 0 * z, "sharp": 5 * z + 6 * y - 3}[kind]
    return 1 / (1 + np.exp(-about - middle)), y


def exact_figures(p: Array, y: Array) -> dict[str, float]:
    q, guess = np.clip(p, 2.0**-14, 1 - 2.0**-14), p > 0.5
    hits = float((guess & (y == 1)).sum())
    return {
        "accuracy": float((guess == y).mean()),
        "balanced_accuracy": float(balanced_accuracy_score(y, guess)),
        "auc": float(roc_auc_score(y, p)),
        "log_loss": float(-np.log(np.where(y == 1, q, 1 - q)).mean()),
        "brier": float(np.square(p - y).mean()),
        "recall": hits / y.sum(),
        "precision": hits / max(guess.sum(), 1) if guess.any() else 0.5,  # any is right
        "f1": 2 * hits / (guess.sum() + y.sum()),
    }


def held(found: Evaluation, exact: dict[str, float]) -> list[bool]:
    """Whether each interval holds the exact figure."""
    own = {name: getattr(found, name) for name in exact}
    ends = [(one[1] if isinstance(one, tuple) else one).interval for one in own.values()]
    return [end.low - 1e-9 <= value <= end.high + 1e-9 for end, value in zip(ends, exact.values(), strict=True)]


def check_coverage(settings: Sequence[tuple[int, float, float, str]], runs: int, **fields: Any) -> None:
    """Each of eight figures is held as often as is said, but for four standard errors."""
    rng, hits = np.random.default_rng(0), []
    for n, rate, epsilon, kind in settings:
        large = exact_figures(*rare(10**6, rate, kind, rng)) if fields.get("population") else None
        for _ in range(runs):
            p, y = rare(n, rate, kind, rng)
            exact = exact_figures(p, y) if large is None else large
            hits.append(held(evaluate(Given(), p[:, None], y, epsilon=epsilon, **fields), exact))
    assert np.mean(hits, axis=0).min() > 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(hits))


def test_intervals_hold_the_exact_figures_as_often_as_they_say_at_any_imbalance() -> None:
    check_coverage([(600, 0.02, 1.0, "smooth"), (5000, 0.08, 1.0, "tied"), (600, 0.5, 0.3, "sharp")], 20)
    check_coverage([(5000, 0.08, 1.0, "smooth"), (5000, 0.08, 1.0, "constant")], 10, delta=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["smooth", "tied", "constant", "sharp"])
@pytest.mark.parametrize("population", [False, True])
def test_intervals_hold_the_figures_for_any_scores_sizes_and_prices(kind: str, population: bool) -> None:
    for rate in (0.08, 0.5):
        settings = [(500, rate, 10.0, kind), (500, rate, 1.0, kind), (5000, rate, 0.1, kind), (20_000, rate, 1.0, kind)]
        check_coverage(settings, 40, population=population)


def test_a_calibration_curve_is_held_as_often_as_it_says_at_any_imbalance() -> None:
    """Its points are for the same cells as its counts; two, eight and fifty in a hundred are of the second class."""
    rng, hits = np.random.default_rng(0), []
    for rate in np.repeat([0.02, 0.08, 0.5], 8):
        p, y = rare(2000, rate, "smooth", rng)
        found = evaluate(Given(), p[:, None], y, epsilon=1.0)
        assert found.table.cells is not None
        (low, high), first = found.calibration.interval, found.table.cells.edges[0]
        ends = accumulate(found.calibration.labels["score"], lambda end, middle: 2 * middle - end, initial=first)
        groups = [y[(p >= a) & (p < b)] for a, b in pairwise(ends)]
        hits += [low[k] - 1e-9 <= own.mean() <= high[k] + 1e-9 for k, own in enumerate(groups) if len(own)]
    assert np.mean(hits) > 0.95 - 4 * np.sqrt(0.95 * 0.05 / len(hits))


def test_intervals_for_the_population_hold_its_figures() -> None:
    check_coverage([(600, 0.5, 1.0, "smooth"), (2000, 0.08, 3.0, "smooth")], 20, population=True)


def test_intervals_are_narrow_where_records_are_many_and_hold_everything_where_noise_hides_a_class() -> None:
    """Also those of a calibration curve; equal scores are seen to be equal."""
    rng = np.random.default_rng(0)
    p, y = rare(10_000, 0.08, "smooth", rng)
    found = evaluate(Given(), p[:, None], y, epsilon=2.0)
    assert found.auc.half_width < 0.02
    assert found.log_loss.half_width < 0.02
    shares, (low, high) = found.calibration["share of 1"], found.calibration.interval
    assert np.median(high - low) < 0.1
    assert ((low <= shares.values) & (shares.values <= high)).all()
    same = evaluate(Given(), np.full((10_000, 1), 0.08), y, epsilon=2.0)
    assert same.auc.value == pytest.approx(0.5, abs=0.01)
    assert same.auc.half_width < 0.01
    hidden = evaluate(Given(), p[:50, None], np.arange(50) == 0, epsilon=0.1)
    assert hidden.auc.half_width > 0.4
    assert hidden.recall[1].half_width > 0.4


def test_shares_are_of_cells_and_sides_together_by_their_information() -> None:
    """Two cells below the middle and one above, of noise 1; sides have noise 2: weights are 4 to 2, and 4 to 1."""
    counts = np.array([[10.0, 20.0, 4.0], [3.0, 3.0, 50.0]])
    cells = ScoreCells(np.array([0.0, 0.2, 0.5, 1.0]), np.zeros(3, dtype=bool), 2)
    sides = ScoreSides(np.array([[36.0, 9.0], [0.0, 40.0]]), Spread(Gaussian(2.0), 2.0))
    table = ScoreTable(counts, cells, Spread(Gaussian(1.0), 1.0), sides)
    found = Evaluation(name="", receipt=Mock(), confidence=0.95, population=False, classes=("a", "b"), table=table)
    together = found.confusion["count"].values
    assert together.tolist() == pytest.approx([32.0, 5.0, 4.0, 48.0])
    assert found.recall[1].value == pytest.approx(48 / 52)
    assert found.precision[1].value == pytest.approx(48 / 53)
    low, high = found.confusion["count"].interval
    assert (high - low)[[0, 1]] == pytest.approx(2 * 1.959964 * np.sqrt([8 / 6, 4 / 5]), rel=1e-4)


def test_the_interval_of_an_accuracy_is_narrow_where_noise_is_large() -> None:
    """It was 0.04 from cells alone."""
    rng = np.random.default_rng(0)
    p, y = rare(5000, 0.5, "smooth", rng)
    assert evaluate(Given(), p[:, None], y, epsilon=0.1).accuracy.half_width < 0.03


def test_the_interval_of_the_auc_has_every_order_of_scores_within_a_cell() -> None:
    """Where noise is nothing, that alone is unknown: four cells leave more open than many."""
    X, y = people()
    exact = roc_auc_score(y, MODEL.predict_proba(X)[:, 1])
    coarse, fine = (evaluate(MODEL, X, y, epsilon=1e4, bins=bins).auc for bins in (4, None))
    assert coarse.interval.low <= exact <= coarse.interval.high
    assert coarse.half_width > 0.025
    assert fine.half_width < 0.01


def test_a_share_is_contradicted_by_its_own_variance() -> None:
    """Ninety of a hundred, supposed to be nine tenths: 100 x .9 x .1, as Wilson has it."""
    found = CellShare(np.array([90.0, 10.0]), np.array([1.0, 0.0]), np.array([0.0, 1.0])).supposed(0.9)
    np.testing.assert_allclose(found.weights, [0.1, -0.9])
    assert found.value == pytest.approx(0.0, abs=1e-9)
    assert found.variance == pytest.approx(9.0)


def test_steps_of_a_score_are_short_near_its_ends_and_one_half_is_an_edge() -> None:
    p = np.array([0.0, 1e-3, 0.01, 0.3, 0.5, 0.999, 1.0])
    np.testing.assert_allclose(probability_at(step_of(p)), p, atol=1e-12)
    assert step_of(np.array([0.5])).tolist() == [FINE / 2]
    lengths = np.diff(probability_at(np.arange(FINE + 1.0)))
    assert 2e-5 < lengths.min() < 4e-5
    assert lengths.max() < 1e-3


@pytest.mark.parametrize("trust", ["curator", "local", "parties"])
def test_it_works_under_every_trust_model(trust: str, learned: Any) -> None:
    exact = learned.score(*people(6000))
    found = evaluate(learned, private(6000, Budget(8.0), trust), target="y", bins=4, epsilon=8.0)
    assert found.accuracy.value == pytest.approx(exact, abs=0.05)
    assert found.auc.value > 0.75


def test_parties_evaluate_a_pipeline() -> None:
    steps = [("scale", StandardScaler()), ("fit", LogisticRegression(max_iter=2))]
    model = PrivatePipeline(steps, bounds=(-4, 4), classes=[0, 1], epsilon=20.0, delta=0.0).fit(*people(3000))
    found = evaluate(model, private(3000, Budget(2.0), "parties"), target="y", epsilon=2.0)
    assert found.accuracy.value == pytest.approx(model.score(*people(3000)), abs=0.03)
    with pytest.raises(DiscreetError, match=r"not those of GaussianNB.*Nothing was released or spent.*as a column"):
        evaluate(ExactNB().fit(*people(100)), private(10, Budget(1.0), "parties"), target="y")


def test_a_column_of_scores_or_of_classes_is_evaluated() -> None:
    X, y = people()
    table = {"p": MODEL.predict_proba(X)[:, 1], "guess": MODEL.predict(X), "y": y}
    schema = Schema({"p": Number(0, 1), "guess": Category((0, 1)), "y": Category((0, 1))})
    for name in ("p", "guess"):
        found = evaluate(name, PrivateData.of(table, schema, Budget(1.0)), target="y")
        assert found.accuracy.value == pytest.approx(MODEL.score(X, y), abs=0.01)
    with pytest.raises(DiscreetError, match="no scores"):
        _ = found.auc


def test_three_classes_have_a_confusion_matrix() -> None:
    X, _ = people(6000)
    y = np.digitize(X[:, 0], [-0.5, 0.5])
    model = ExactNB().fit(X, y)
    found = evaluate(model, X, y, epsilon=2.0)
    np.testing.assert_allclose(found.confusion.values.reshape(3, 3), confusion_matrix(y, model.predict(X)), atol=30)
    assert "AUC" not in str(found)


def test_a_record_that_the_model_refuses_counts_for_nothing_and_changes_no_other() -> None:
    X, y = people(200)
    odd = np.vstack([X, [[np.nan, 1.0]]])
    places = placed(MODEL, odd, [0, 1])
    assert np.isnan(places[-1])
    np.testing.assert_array_equal(places[:-1], placed(MODEL, X, [0, 1]))
    np.testing.assert_array_equal(places[:5], [placed(MODEL, X[i : i + 1], [0, 1])[0] for i in range(5)])
    assert len(evaluate(MODEL, odd, [*y, 7], epsilon=1.0).confusion) == 4


def test_classes_are_found_by_their_names_and_not_by_their_places(learned: Any) -> None:
    """In a schema that lists them the other way round, scores and signs are turned."""
    X, y = people(3000)
    turned = Schema({**SCHEMA.columns, "y": Category((1, 0))})
    matrix = np.column_stack([X, 1 - y])
    parts = {f"p{i}": Matrix(matrix[i::3], turned) for i in range(3)}
    trusts = (Curator(Matrix(matrix, turned)), SecureSum.rehearsal(parts, turned, threshold=2))
    for trust in trusts:
        found = evaluate(learned, PrivateData(trust, MemoryLedger(Budget(50.0))), target="y", epsilon=50.0)
        assert found.classes == ("1", "0")
        assert found.accuracy.value == pytest.approx(learned.score(X, y), abs=0.01)
        assert found.auc.value > 0.8
    other = Schema({**SCHEMA.columns, "y": Category((1, 2))})
    with pytest.raises(DiscreetError, match="the same classes"):
        evaluate(learned, PrivateData.of(Matrix(matrix, other), other, Budget(1.0)), target="y")


def test_frames_are_evaluated_with_their_names() -> None:
    X, y = people(500)
    frame = pd.DataFrame(X, columns=["a", "b"])
    model = Exact().fit(frame, y)
    assert evaluate(model, frame, y, epsilon=1e4).accuracy.value == pytest.approx(model.score(frame, y), abs=0.01)
    data = PrivateData.of({"b": X[:, 1], "a": X[:, 0], "y": y}, SCHEMA, Budget(1e4))
    found = evaluate(model, data, target="y", epsilon=1e4)
    assert found.accuracy.value == pytest.approx(model.score(frame, y), abs=0.01)


def test_a_retry_with_its_key_gives_the_same_figures_and_another_model_is_refused(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(tmp_path / "l", Budget(3.0, 1e-6), name="e", neighbors=Neighbors.ADD_REMOVE)
    data = PrivateData.of(Matrix(np.column_stack(people(200)), SCHEMA), SCHEMA, ledger)
    first, again = (evaluate(MODEL, data, target="y", key="k") for _ in range(2))
    np.testing.assert_array_equal(first.counts, again.counts)
    assert again.receipt.replayed
    with pytest.raises(KeyReused):
        evaluate(Exact(C=0.01).fit(*people(300)), data, target="y", key="k")


def test_no_audit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """Every record is one mark in each level of the tree, one in the sides and one in the cells."""
    data = private(10, Budget(3.0))
    records = scored(MODEL, data, "y")
    plan = score_plan(records, data, 4, Budget(3.0))
    questions = (
        records.asked(Tree.weighted(4, 16, "l1").question(records.schema, "score", 16)),  # 4096 take long
        records.asked(contingency_between_of(records.schema, "y", "score", (0.0, 2048.0, 4096.0))),
        records.asked(contingency_between_of(records.schema, "y", "score", (0.0, 7.0, 2048.0, 4096.0))),
    )
    assert pure_epsilon(plan.event) == pytest.approx(3.0, rel=1e-6)
    for question, noise in zip(questions, plan.stages.mechanisms, strict=True):
        check_sum(
            SumPlan(question, spread(data, question, noise)), worst(question, (-4.0, 4.0), (-4.0, 4.0), (0.0, 1.0))
        )


def test_a_record_of_no_class_or_without_a_score_is_counted_nowhere() -> None:
    data = private(10, Budget(3.0))
    records = scored(MODEL, data, "y")
    odd = np.array([[0.0, 0.0, np.nan], [np.nan, 0.0, 1.0], [0.0, 0.0, 1.0]])
    for inner in (contingency_of(records.schema, ("y",), (0,)), contingency_of(records.schema, ("score",), (8,))):
        question = records.asked(inner)
        assert question.total is not None
        assert np.abs(question.of(odd)).sum(axis=1).tolist() == [0.0, 0.0, 1.0]
        assert question.total(odd).sum() == 1.0


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    data = private(10, Budget(1.0))
    for fields in ({"bins": 1}, {"bins": 10_000}, {"confidence": 2.0}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            evaluate(MODEL, X, y, **fields)
    wrong = Exact().fit(np.column_stack([X, X]), y)
    for given in ((MODEL, data, None, None), (MODEL, data, y, "y"), (MODEL, X, None, None), (wrong, data, None, "y")):
        model, records, labels, target = given
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            evaluate(model, records, labels, target=target)
    assert data.ledger.balance().certified == 0
