"""The figures of the page about attacks: ROC curves on releases that learn by heart, and on their private twins."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import discreet
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
    for ax, (name, model) in zip(drawn.subplots(1, 2, sharey=True), models.items(), strict=True):
        fitted = model.fit(data.members_X, data.members_y)
        for attack in tried:
            _drawn(ax, attack.run(fitted), type(attack).__name__)
        _framed(ax, name)
    return drawn


def gallery() -> Figure:
    """One attack in each picture: on a release that was made as it is usually made, and on its private twin."""
    drawn = Figure(figsize=(9, 6), layout="constrained")
    parts = [*_of_models(), *_of_tables(), *_of_means()]
    for ax, (name, attack, exact, private) in zip(
        drawn.subplots(2, 3, sharex=True, sharey=True).flat, parts, strict=True
    ):
        _drawn(ax, attack.run(exact), "exact")
        _drawn(ax, attack.run(private), f"epsilon {EPSILON:g}")
        _framed(ax, name)
    return drawn


def _of_models() -> Iterator[tuple[str, Any, Any, Any]]:
    data, bounds = made_up(), {"bounds": (-4, 4), "classes": [0, 1], "epsilon": EPSILON}
    forest = RandomForestClassifier(40, min_samples_leaf=3, random_state=0)
    shadows = attacks.ShadowModels(data, attacks.References.fitted(forest, *data.rows, number=8))
    models = forest, learners.RandomForestClassifier(40, **bounds)
    forests = [model.fit(data.members_X, data.members_y) for model in models]
    yield "a forest: ShadowModels", shadows, *forests
    yield "its labels: LabelOnly", attacks.LabelOnly(data, scales=(0.3, 1.0)), *forests
    rng = np.random.default_rng(2)
    X = rng.normal(size=(2 * SIZE, 80))
    y = (X[:, 0] + rng.normal(size=2 * SIZE) > 0).astype(int)
    wide = attacks.MembershipData.of(X[:SIZE], y[:SIZE], X[SIZE:], y[SIZE:])
    plain = LogisticRegression(C=10.0)
    four = attacks.References.fitted(plain, *wide.rows, number=4)
    lines = [model.fit(wide.members_X, wide.members_y) for model in (plain, learners.LogisticRegression(**bounds))]
    yield "80 coefficients: RMIA", attacks.RMIA(wide, four), *lines


def _of_tables() -> Iterator[tuple[str, Any, Any, Any]]:
    people = np.random.default_rng(3).normal(size=(3 * SIZE, 3))
    members, others, reference = people[:SIZE], people[SIZE : 2 * SIZE], people[2 * SIZE :]
    data = attacks.MembershipData.of_rows(members, others)
    copies = members + np.random.default_rng(4).normal(0, 0.2, members.shape)
    columns = dict(zip("abc", members.T, strict=True))
    twin = discreet.synthesize(columns, bounds=dict.fromkeys("abc", (-4, 4)), epsilon=EPSILON, delta=1e-6)
    yield "noisy copies: NearestDistance", attacks.NearestDistance(data), copies, twin
    yield "the same copies: DensityRatio", attacks.DensityRatio(data, reference), copies, twin


def _of_means() -> Iterator[tuple[str, Any, Any, Any]]:
    rows = (np.random.default_rng(5).random((1000, 200)) < 0.3).astype(float)
    data = attacks.MembershipData.of_rows(rows[:100], rows[100:300])
    each = EPSILON / rows.shape[1]
    noisy = [discreet.mean(column, bounds=(0, 1), epsilon=each).value for column in rows[:100].T]
    attack = attacks.MeansLikelihoodRatio(data, rows[300:])
    yield "200 means: MeansLikelihoodRatio", attack, rows[:100].mean(axis=0), noisy


def _drawn(ax: Axes, result: attacks.AttackResult, label: str) -> None:
    result.plot(ax)
    ax.lines[-2].remove()  # the diagonal of chance, which is drawn once
    ax.lines[-1].set_label(label)


def _framed(ax: Axes, name: str) -> None:
    """Chance, and what epsilon forbids."""
    rates = np.geomspace(LEAST, 1, 200)
    ax.plot(rates, rates, linestyle="--", color="grey", label="chance")
    allowed = [Allowance(EPSILON).true_positives(rate) for rate in rates]
    ax.fill_between(rates, allowed, 1, color="grey", alpha=0.15, label=f"forbidden by epsilon {EPSILON:g}")
    ax.set(xlim=(LEAST, 1), ylim=(LEAST, 1))
    ax.set_title(name, fontsize="medium")
    ax.legend(fontsize="x-small", loc="lower right")


FIGURES: dict[str, Callable[[], Figure]] = {"break_it_roc.svg": curves, "break_it_gallery.svg": gallery}
