"""Two models of the same made-up records: one that learns them by heart, and its private twin."""

from __future__ import annotations

import numpy as np

from discreet.attacks.material import ModelMaterial
from discreet.attacks.membership.membership_data import MembershipData
from discreet.attacks.report.attack_report import AttackReport, attacked

SIZE, FEATURES, TREES, SEED, EPSILON = 250, 6, 20, 0, 1.0


def made_up(seed: int = SEED) -> MembershipData:
    """People whose answer depends on two of their six values, and one time in four on nothing."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(2 * SIZE, FEATURES))
    answers = np.where(rng.random(2 * SIZE) < 0.25, rng.integers(0, 2, 2 * SIZE), rows[:, 0] + rows[:, 1] > 0)
    return MembershipData.of(rows[:SIZE], answers[:SIZE], rows[SIZE:], answers[SIZE:])


def demo(seed: int = SEED) -> tuple[AttackReport, AttackReport]:
    """The attacks on both models: made-up records, so that nobody is given away."""
    from sklearn.ensemble import RandomForestClassifier

    from discreet.learners import RandomForestClassifier as PrivateForest

    data, names = made_up(seed), tuple(f"value {place}" for place in range(FEATURES))
    plain = RandomForestClassifier(TREES, random_state=seed)
    private = PrivateForest(TREES, bounds=(-4.0, 4.0), classes=[0, 1], epsilon=EPSILON)
    models = [model.fit(data.members_X, data.members_y) for model in (plain, private)]
    materials = [ModelMaterial(model, data, names) for model in models]
    return (
        attacked(materials[0], name="demo: a forest that learns by heart"),
        attacked(materials[1], name=f"demo: its private twin, epsilon {EPSILON:g}", receipt=models[1].receipt_),
    )
