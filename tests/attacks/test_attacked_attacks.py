"""Every attack is attacked itself: targets that say nothing, that raise, odd names, and the order of rows."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest

from discreet import attacks
from discreet.attacks import (
    AttributeFromModel,
    AttributeThroughMembership,
    Averaging,
    BayesEstimate,
    CountReconstruction,
    FellegiSunter,
    Intersection,
    KnownSamples,
    LeafOfOne,
    Linkability,
    MembershipData,
    ModelInversion,
    QuasiIdentifiers,
    Rephrasing,
    SingletonCluster,
    SinglingOut,
    SpectralFilter,
    SwapsUndone,
    ThreatModel,
)
from discreet.core.errors import ParameterError

HOSTILE = "<script>alert(1)</script>\x1b[2J\r\nFORGED"
PUBLIC: list[Any] = [getattr(attacks, name) for name in attacks.__all__]
FOUND: list[Any] = [one for one in PUBLIC if is_dataclass(one) and hasattr(one, "run")]


def _table(seed: int, number: int = 60) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {HOSTILE: rng.integers(0, 9, number), "b": rng.choice(["<b>", HOSTILE], number), "c": rng.random(number)}


def _people(rng: np.random.Generator) -> MembershipData:
    """Three attributes of two values, and a number by which members and others differ."""
    rows = np.column_stack([rng.integers(0, 2, (140, 3)), rng.random(140)])
    return MembershipData.of(rows[:40], [0, 1] * 20, rows[40:], [1, 0] * 50)


def test_every_attack_names_its_paper_and_its_adversary_and_cannot_be_changed() -> None:
    assert len(FOUND) >= 20
    for attack in FOUND:
        assert isinstance(attack.paper, str)
        assert attack.paper
        assert isinstance(attack.threat, ThreatModel)
        assert vars(attack)["__dataclass_params__"].frozen, attack.__name__
        assert not {"paper", "threat"} & {own.name for own in fields(attack)}


def test_names_and_values_made_to_harm_stay_text() -> None:
    table, other = _table(0), _table(1)
    rows = range(60)
    ran = [
        QuasiIdentifiers(table, rows).run(table),
        FellegiSunter(table, rows, tolerances={HOSTILE: 1.0}).run(table),
        SinglingOut(table, other, guesses=20).run(table),
        Linkability(table, other, [HOSTILE], ["b", "c"]).run(table),
        Intersection({HOSTILE: table[HOSTILE]}, table["b"], "b").run([table, table]),
        SwapsUndone(table["b"], "b", {HOSTILE: {(HOSTILE, 1): 3}}).run({"b": table["b"], HOSTILE: table[HOSTILE]}),
        CountReconstruction({HOSTILE: ["<b>"] * 5}, {HOSTILE: ["<b>", "x"]}, {HOSTILE: ["<b>", "x"]}).run(
            {(HOSTILE,): [5, 0]}
        ),
    ]
    for result in ran:
        assert "<script" not in result._repr_html_()
        assert str(result).replace("\n", "").isprintable()
        assert json.loads(result.to_json())["attack"] == result.attack


def test_the_order_of_rows_changes_nothing_and_no_input_is_changed() -> None:
    rng = np.random.default_rng(2)
    table, order = _table(2), rng.permutation(60)
    before = {name: values.copy() for name, values in table.items()}
    shuffled = {name: values[order] for name, values in table.items()}
    back = np.argsort(order)
    for attack in (QuasiIdentifiers, FellegiSunter):
        here, there = attack(table, range(60)).run(table), attack(table, back.tolist()).run(shuffled)
        assert (here.right, here.wrong) == (there.right, there.wrong)
        assert {int(order[row]) for row in there.worst} <= set(range(60))
    rows = rng.normal(size=(60, 4))
    assert BayesEstimate(rows[order], 1.0).run(rows[order]).right == BayesEstimate(rows, 1.0).run(rows).right
    for name, values in table.items():
        assert (values == before[name]).all()


def test_constant_and_random_targets_raise_no_alarm() -> None:
    """Twenty attacks with one risk in twenty each would raise one; seeds are fixed, and all keep silent."""
    rng = np.random.default_rng(3)
    bits, rows = rng.integers(0, 2, 80), rng.normal(size=(200, 5))
    people = _people(rng)
    table, other = _table(4), _table(5)
    models = [lambda asked: np.full((len(asked), 2), 0.5), lambda asked: rng.dirichlet([1, 1], len(asked))]
    answers = [lambda queries: np.zeros(len(queries)), lambda queries: rng.normal(40, 9, len(queries))]
    alarms = [
        *(
            attack(people, 1).run(model).beats_chance
            for model in models
            for attack in (AttributeFromModel, AttributeThroughMembership)
        ),
        *(attack(bits, repeats=9).run(target).beats_chance for target in answers for attack in (Averaging, Rephrasing)),
        *(ModelInversion(np.eye(2)).run(model).beats_chance for model in models),
        *(
            attack(rows, 1.0).run(target).beats_chance
            for target in (np.zeros((200, 5)), rng.normal(size=(200, 5)))
            for attack in (SpectralFilter, BayesEstimate)
        ),
        *(
            KnownSamples(rows, range(9)).run(target).beats_chance
            for target in (np.zeros((200, 3)), rng.normal(size=(200, 3)))
        ),
        *(
            attack.run(target).beats_chance
            for target in (other, {name: values[:1].repeat(60) for name, values in table.items()})
            for attack in (
                QuasiIdentifiers(table, range(60)),
                FellegiSunter(table, range(60)),
                SinglingOut(table, _table(6), guesses=50),
                Linkability(table, _table(6), [HOSTILE], ["b", "c"]),
            )
        ),
    ]
    assert len(alarms) == 24
    assert not any(alarms)


def test_odd_tables_are_searched_or_refused() -> None:
    """Values of every size and kind, in which nothing can be found."""
    table: dict[str, Any] = {"a": np.arange(20.0), "b": ["x", "y"] * 10}
    columns: list[Any] = [[np.nan] * 20, [np.inf, -np.inf] * 10, [1e308, -1e308] * 10, [1, "1"] * 10, [None, (2,)] * 10]
    made: list[Any] = [
        QuasiIdentifiers(table, range(20)),
        FellegiSunter(table, range(20)),
        SinglingOut(table, table, guesses=20),
        Linkability(table, table, ["a"], ["b"]),
        SwapsUndone(table["b"], "b", {"a": {("x", 1): 2}}),
    ]
    for attack in made:
        for column in columns:
            try:
                result = attack.run({"a": column, "b": table["b"]})
            except ParameterError as refusal:
                assert "numbers in one table and texts in another" in str(refusal)  # noqa: PT017
            else:
                assert not result.beats_chance


def test_targets_that_raise_on_some_records_are_findings() -> None:
    rng = np.random.default_rng(7)
    bits = rng.integers(0, 2, 80)
    people = _people(rng)

    def model(asked: Any) -> Any:
        if (asked[:, 0] == 1).any():
            raise RuntimeError(HOSTILE)
        return np.full((len(asked), 2), 0.5)

    def answers(queries: Any) -> Any:
        if (queries[:, 0] == 1).any():
            raise RuntimeError(HOSTILE)
        return queries @ bits

    for attack in (AttributeFromModel(people, 1), AttributeThroughMembership(people, 1)):
        assert attack.run(model).details["questions on which the target raised"] > 0
    for asking in (Averaging(bits, repeats=3), Rephrasing(bits, repeats=3)):
        result = asking.run(answers)
        assert 0 < result.details["queries refused"] < result.questions
        assert 0 < result.right < result.trials


@pytest.mark.parametrize(
    "attack", [attack for attack in FOUND if attack in (LeafOfOne, SingletonCluster, ModelInversion)]
)
def test_what_is_no_target_is_refused_with_the_remedy(attack: Any) -> None:
    known = {
        LeafOfOne: MembershipData.of(np.eye(10), range(10), 2 * np.eye(10), range(10), level=0.1),
        SingletonCluster: np.eye(10),
        ModelInversion: np.eye(10),
    }[attack]
    for target in (None, 7, HOSTILE, object()):
        with pytest.raises(ValueError, match="Nothing was released or spent"):
            attack(known).run(target)
