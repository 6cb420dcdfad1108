"""The likelihood-ratio attack: the exact ratio on normal log-odds, members of real models, and no false alarm."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

from discreet.attacks import LiRA, MembershipData, ModelTarget, References, ThresholdAttack
from discreet.core.errors import ParameterError
from tests.attacks.membership.made import NEAREST, NETWORKS, alarms, networks_and_target, patterned, records

DATA = records(150)
MODELS = 2000


def _normal(seed: int) -> tuple[References, np.ndarray, np.ndarray, np.ndarray]:
    """References whose log-odds are drawn: for each record its own means and deviations, seen and not."""
    rng = np.random.default_rng(seed)
    X, y = DATA.rows
    means = np.stack([rng.normal(0, 2, len(y)), rng.normal(1, 2, len(y))])
    deviations = np.stack([rng.uniform(0.5, 2, len(y)), rng.uniform(0.5, 2, len(y))])
    half = rng.random((MODELS, len(y))) < 0.5
    margins = np.where(half, rng.normal(means[1], deviations[1], half.shape), rng.normal(means[0], deviations[0]))
    margins = np.where(half, margins, rng.normal(means[0], deviations[0], half.shape))
    return References(X, y, half, margins.astype(np.float32), (None,) * MODELS), means, deviations, y


def _answering(y: np.ndarray, margins: np.ndarray) -> Any:
    """A target that gives each row of the pool these log-odds."""
    X, _ = DATA.rows
    table = {row.tobytes(): chance for row, chance in zip(X, expit(np.where(y == 1, margins, -margins)), strict=True)}

    def predict(rows: Any) -> Any:
        one = np.array([table[row.tobytes()] for row in rows])
        return np.c_[1 - one, one]

    return predict


def test_scores_are_the_logarithm_of_the_likelihood_ratio() -> None:
    references, means, deviations, y = _normal(0)
    margins = np.random.default_rng(1).normal(0.5, 1.5, len(y))
    X, _ = DATA.rows
    target = ModelTarget.of(_answering(y, margins))
    found = LiRA(DATA, references, shared=1e-6).scores(target, X, y)
    exact = stats.norm.logpdf(margins, means[1], deviations[1]) - stats.norm.logpdf(margins, means[0], deviations[0])
    assert np.corrcoef(found, exact)[0, 1] > 0.98
    assert np.median(np.abs(found - exact)) < 0.15
    offline = LiRA(DATA, references, "offline", shared=1e-6).scores(target, X, y)
    assert np.median(np.abs(offline - (margins - means[0]) / deviations[0])) < 0.1


def test_the_common_variance_is_that_around_each_record_own_mean() -> None:
    references, _, deviations, _ = _normal(2)
    law = LiRA(DATA, references, shared=1e6)._in
    assert law.variances.std() < 1e-2
    assert law.variances.mean() == pytest.approx((deviations[1] ** 2).mean(), rel=0.05)


def test_members_stand_out_more_than_by_one_threshold() -> None:
    data, references, target = networks_and_target()
    threshold, online, offline = (
        attack.run(target).scores
        for attack in (ThresholdAttack(data), LiRA(data, references), LiRA(data, references, "offline"))
    )
    assert threshold is not None
    assert online is not None
    assert offline is not None
    assert online.area > offline.area > threshold.area + 0.03
    assert online.rate_at(0.05) > 2 * threshold.rate_at(0.05)


def test_targets_without_information_raise_no_alarm() -> None:
    assert alarms(LiRA) <= 6
    assert alarms(lambda data, references: LiRA(data, references, "offline")) <= 6


def test_certain_and_failing_references_leave_numbers() -> None:
    """Nearest neighbors are always certain; a reference that raised on a record has no word on it."""
    references = References.fitted(NEAREST, *DATA.rows, number=4)
    references.margins[0, :7] = np.nan
    scores = LiRA(DATA, references).run(NEAREST.fit(DATA.members_X, DATA.members_y)).scores
    assert scores is not None
    assert np.isfinite(scores.members).all()
    assert scores.area > 0.7


def test_mislabelled_members_are_the_worst_off() -> None:
    """Ten members have the wrong label: a model that learnt them by heart gives them away first."""
    data = patterned(200, 0.0)
    wrong = data.members_y.copy()
    wrong[:10] = 1 - wrong[:10]
    data = MembershipData.of(data.members_X, wrong, data.others_X, data.others_y)
    attack = LiRA(data, References.fitted(NETWORKS, *data.rows, number=16))
    worst = attack.run(NETWORKS.trained(data.members_X, data.members_y)).worst
    assert len({*worst} & {*range(10)}) >= 6


def test_settings_without_meaning_are_refused() -> None:
    references, *_ = _normal(0)
    with pytest.raises(ParameterError, match="online or offline"):
        LiRA(DATA, references, "sideways")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="shared"):
        LiRA(DATA, references, shared=-1.0)
