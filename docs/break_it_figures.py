"""The figure of the page about attacks: ROC curves on a forest that learns by heart and on its private twin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier

from discreet import attacks, learners
from discreet.attacks.report.allowance import Allowance

SIZE, EPSILON, LEAST = 400, 1.0, 1e-3


def made_up() -> attacks.MembershipData:
    """Records whose labels depend on one value, and on luck."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(2 * SIZE, 5))
    y = (X[:, 0] + rng.normal(size=2 * SIZE) > 0).astype(int)
    return attacks.MembershipData.of(X[:SIZE], y[:SIZE], X[SIZE:], y[SIZE:])


def curves() -> Figure:
    """Four attacks on each model; below the shaded line lies what epsilon allows."""
    data, forest = made_up(), RandomForestClassifier(40, min_samples_leaf=3, random_state=0)
    references = attacks.References.fitted(forest, *data.rows, number=16)
    private = learners.RandomForestClassifier(40, bounds=(-4, 4), classes=[0, 1], epsilon=EPSILON)
    models = {"a forest": forest, f"its private twin, epsilon {EPSILON:g}": private}
    tried = [attacks.ThresholdAttack(data), attacks.LabelOnly(data, draws=3)]
    tried += [attacks.LiRA(data, references), attacks.RMIA(data, references)]
    drawn = Figure(figsize=(9, 4), layout="constrained")
    rates = np.geomspace(LEAST, 1, 200)
    for ax, (name, model) in zip(drawn.subplots(1, 2, sharey=True), models.items(), strict=True):
        fitted = model.fit(data.members_X, data.members_y)
        for attack in tried:
            attack.run(fitted).plot(ax)
            ax.lines[-2].remove()  # the diagonal of chance, which is drawn once
            ax.lines[-1].set_label(type(attack).__name__)
        ax.plot(rates, rates, linestyle="--", color="grey", label="chance")
        allowed = [Allowance(EPSILON).true_positives(rate) for rate in rates]
        ax.fill_between(rates, allowed, 1, color="grey", alpha=0.15, label="forbidden by epsilon 1")
        ax.set(title=name, xlim=(LEAST, 1), ylim=(LEAST, 1))
        ax.legend(fontsize="small")
    return drawn


FIGURES: dict[str, Callable[[], Figure]] = {"break_it_roc.svg": curves}
