"""Attacks on a model like one that was released, made of made-up records: what its price leaves to an adversary."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from discreet.attacks.material import ModelMaterial
from discreet.attacks.membership.membership_data import MembershipData
from discreet.attacks.report.attack_report import AttackReport, attacked
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.query.asked_question import AskedQuestion
from discreet.query.forecast.stand_in import Shape, stand_in
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

ASKED = "rehearse attacks"
MOST = 2000  # records of each kind
MADE_UP = (
    "Every record here is made up from the schema, and the model was fitted anew to such records at the same price: "
    "nothing in this report is about anybody, and it may be shown. How sure an adversary is of real records may "
    "differ; that it stays below what the receipt allows does not."
)


def rehearsed_attack(
    question: AskedQuestion, budget: Budget, schema: Schema, neighbors: Neighbors, unit: Unit, n: int
) -> AttackReport:
    """Fit the model anew to made-up records, and run every attack on it that can be run. No record is read.

    Parameters
    ----------
    question : AskedQuestion
        Public. The learner that was asked for.
    budget : Budget
        Public. What the model cost.
    schema : Schema
        Public. The columns.
    neighbors : Neighbors
        Public. The relation of the data set.
    unit : Unit
        Public. Whose presence is hidden.
    n : int
        Public. About how many records there are; at most 2,000 are made up.

    Returns
    -------
    AttackReport
        With a warning that its records are made up.

    Raises
    ------
    ParameterError
        It is no learner that tells classes apart by probabilities: nothing is known to try on others.

    Examples
    --------
    >>> from discreet.core.neighbors import RECORD
    >>> from discreet.schema.schema import Category, Number
    >>> schema = Schema({"age": Number(0, 110), "sex": Category(("f", "m"))})
    >>> learner = AskedQuestion.read("GaussianNB target=sex")
    >>> report = rehearsed_attack(learner, Budget(1.0), schema, Neighbors.ADD_REMOVE, RECORD, 500)
    >>> report.beyond
    ()
    """
    check_whole(ASKED, "n", n, 2)
    if question.kind != "learner":
        raise _unfit(f"{question.name:.60} is no model")
    size = min(n, MOST)
    members, others = (stand_in(schema, size, unit, Shape.BELL, seed) for seed in (0, 1))
    model = question.ask(PrivateData.of(members, schema, budget, neighbors=neighbors, unit=unit), budget)
    if not (hasattr(model, "predict_proba") and hasattr(model, "classes_") and hasattr(model, "feature_names_in_")):
        raise _unfit(f"{type(model).__name__} tells no classes apart by probabilities")
    names = tuple(str(name) for name in model.feature_names_in_)
    del model.feature_names_in_  # it is asked with plain arrays, and would warn of names that these do not have
    rows = [(_features(made, names), np.asarray(made[model.target])) for made in (members, others)]
    seen = {row.tobytes() for row in rows[0][0]}
    apart = [place for place, row in enumerate(rows[1][0]) if row.tobytes() not in seen]  # at the ends of bounds
    data = MembershipData.of(*rows[0], rows[1][0][apart], rows[1][1][apart])
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    material = ModelMaterial(model, data, names, kind, number=0)
    report = attacked(material, name=question.name, receipt=model.receipt_)
    return replace(report, warnings=(MADE_UP, *report.warnings))


def _features(made: dict[str, Any], names: tuple[str, ...]) -> Array:
    """The columns that the model reads, in its order."""
    try:
        return np.column_stack([np.asarray(made[name], dtype=np.float64) for name in names])
    except (KeyError, ValueError, TypeError):
        raise _unfit("its features are not plain numbers") from None


def _unfit(obstacle: str) -> ParameterError:
    return ParameterError(ASKED, obstacle, "Ask for a classifier of numbers, such as GaussianNB or LogisticRegression.")
