"""Whole fits of linear models, and of a search among them, are audited, on the worst of many records."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.learners.linear.linear_regression import LinearRegression, Ridge
from discreet.learners.linear.linear_svc import LinearSVC
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.linear.perceptron import Perceptron
from discreet.learners.selection.private_search_cv import PrivateSearchCV
from discreet.schema.schema import Category, Column, Number, Schema
from tests.learners.audited_transcript import check_fit

PEOPLE = np.random.default_rng(0).uniform(-0.5, 0.5, (400, 8))
CLASSES = Category((0, 1))
LEARNERS: list[tuple[Any, Column]] = [
    (LogisticRegression(target="target", max_iter=4), CLASSES),
    (LogisticRegression(target="target", max_iter=4, class_weight="balanced"), CLASSES),
    (LinearSVC(target="target", max_iter=4), CLASSES),
    (Perceptron(target="target", max_iter=4), CLASSES),
    (LinearRegression(target="target"), Number(0, 1)),
    (Ridge(target="target"), Number(0, 1)),
    (
        PrivateSearchCV(LogisticRegression(max_iter=2), {"residual": [0.5, 1.0]}, method="every", target="target"),
        CLASSES,
    ),
]


@pytest.mark.parametrize(("model", "column"), LEARNERS, ids=lambda one: type(one).__name__)
def test_no_audit_of_a_whole_fit_refutes_it_and_one_does_with_two_thirds_of_the_noise(
    model: Any, column: Column
) -> None:
    """Eight features: of so many numbers, Gaussian noise is the least."""
    schema = Schema({**Schema.numeric(-1, 1, 8).columns, "target": column})
    records = np.column_stack([PEOPLE, PEOPLE[:, 0] > 0])
    canaries = [
        np.array([first, *[rest] * 7, label])
        for first, rest, label in product((-1.0, 0.0, 1.0), (-1.0, -0.3, 0.0, 0.3, 1.0), (0.0, 1.0))
    ]
    check_fit(model, records, schema, canaries)


@pytest.mark.parametrize("model", [LogisticRegression(target="target"), LinearSVC(target="target")], ids=["log", "svc"])
def test_nor_does_one_of_rare_marks_and_unequal_classes_and_one_does_with_two_thirds_of_the_noise(model: Any) -> None:
    """Canaries have marks that hardly anybody has, and values at the ends: they are long, and their scores great."""
    rng = np.random.default_rng(1)
    numbers, marks = rng.standard_t(2, (400, 4)).clip(-20, 20) / 20, 2.0 * (rng.random((400, 4)) < 0.02) - 1
    records = np.column_stack([numbers, marks, rng.random(400) < 0.05])
    schema = Schema({**Schema.numeric(-1, 1, 8).columns, "target": CLASSES})
    ends = product((-1.0, 1.0), repeat=4)
    canaries = [np.repeat([*some, label], [2, 2, 2, 2, 1]) for some in ends for label in (0.0, 1.0)]
    check_fit(model, records, schema, canaries)
