"""Fresh noise averages out; answers that are kept do not, unless the question is put in other words."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from discreet.attacks import Averaging, Rephrasing
from discreet.attacks.answers import averaging
from discreet.core.errors import ParameterError
from tests.attacks.trial import AttackTrial

BITS = np.random.default_rng(0).integers(0, 2, 120)
BOTH = (Averaging, Rephrasing)
Target = Callable[[Any], Any]


def _noisy(scale: float, seed: int) -> Target:
    noise = np.random.default_rng(seed)
    return lambda queries: queries @ BITS + noise.laplace(0, scale, len(queries))


def _kept(scale: float, seed: int) -> Target:
    noise, kept = np.random.default_rng(seed), dict[bytes, float]()

    def target(queries: Any) -> Any:
        for query in queries:
            if query.tobytes() not in kept:
                kept[query.tobytes()] = query @ BITS + noise.laplace(0, scale)
        return [kept[query.tobytes()] for query in queries]

    return target


TRIALS = {
    "Averaging": AttackTrial(
        lambda: [(Averaging(BITS, repeats=400), _noisy(3.0, 4))],
        lambda: [
            (Averaging(BITS, repeats=20), _kept(3.0, 5)),
            (Averaging(BITS, repeats=3), lambda asked: 0 * asked[:, 0]),
        ],
    ),
    "Rephrasing": AttackTrial(
        lambda: [(Rephrasing(BITS, repeats=500, sets=10), _kept(3.0, 6))],
        lambda: [
            (Rephrasing(BITS, repeats=9), _noisy(4000.0, 7)),
            (Rephrasing(BITS, repeats=3), lambda asked: 0 * asked[:, 0]),
        ],
    ),
}


def test_fresh_noise_is_averaged_away() -> None:
    """Laplace noise of scale 3 has a standard deviation of 4.2: of 1,000 answers .13, and .19 of sums of two."""
    for attack, questions in ((Averaging, 20_000), (Rephrasing, 40_000)):
        result = attack(BITS).run(_noisy(3.0, 1))
        assert result.success >= 0.95
        assert result.questions == questions
        assert result.details["root mean square error"] < 0.35


def test_answers_that_are_kept_hold_until_the_question_is_put_in_other_words() -> None:
    target = _kept(3.0, 2)
    assert not Averaging(BITS, repeats=20).run(target).beats_chance
    assert Rephrasing(BITS, repeats=500, sets=10).run(target).success >= 0.9


def test_noise_for_one_epsilon_of_all_answers_leaves_chance() -> None:
    for attack in BOTH:
        questions = 2 * 20 * 100
        result = attack(BITS, repeats=100).run(_noisy(float(questions), 3))
        assert not result.beats_chance
        assert result.chance == pytest.approx(0.145, abs=0.03)  # the mode of a hypergeometric law of deviation 2.7
        assert not attack(BITS, repeats=3).run(lambda queries: np.zeros(len(queries))).beats_chance


def test_the_parts_of_a_set_are_that_set(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def target(queries: Any) -> Any:
        seen.append(queries.copy())
        return queries @ BITS

    monkeypatch.setattr(averaging, "MOST", 500)  # four questions at a time
    assert Rephrasing(BITS, repeats=9, sets=2).run(target).success == 1
    asked = np.concatenate(seen)
    assert len(asked) == 2 * 2 * 9
    sums = asked.reshape(2, 9, 2, -1).sum(axis=2)
    assert (sums == sums[:, :1]).all()
    assert sums[:, 0].sum(axis=1).tolist() == [60, 60]
    assert len({row.tobytes() for row in asked}) == len(asked)


def test_a_target_that_refuses_is_a_finding_and_odd_settings_are_refused() -> None:
    def target(queries: Any) -> Any:
        raise RuntimeError("no")

    for attack in BOTH:
        result = attack(BITS, repeats=2, sets=2).run(target)
        assert result.details["queries refused"] == result.questions
        assert result.right == 0
        odd: Any = ({"repeats": 0}, {"sets": 1.5}, {"random_state": -1}, {"truth": [1]}, {"truth": "<b>"})
        for options in odd:
            with pytest.raises(ParameterError, match="Nothing was released or spent"):
                attack(**{"truth": BITS, **options})
