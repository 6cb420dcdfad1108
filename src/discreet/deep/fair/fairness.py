"""Measure how differently a model treats groups, and pay for it."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.deep.fair.constraint import Constraint, constraint_of
from discreet.deep.fair.group_rates import GroupRates, joint_half_width
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute, checked_groups
from discreet.deep.questions.fair_sums import GROUPED, GroupCounts
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.questions.tables.contingency import contingency_of
from discreet.releases.ask import asked
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.trust.private_data import PrivateData

ASKED = "measure fairness"


def attribute_fairness(
    attribute: SensitiveAttribute,
    predicted: Any,
    labels: Any,
    *,
    constraint: str = "demographic_parity",
    epsilon: float = 1.0,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
) -> GroupRates:
    """Release how differently groups are treated, where predictions and classes are known and groups are secret.

    Parameters
    ----------
    attribute : SensitiveAttribute
        The groups, and the account that pays. A record in no declared group is not counted.
    predicted, labels : array of shape (n,)
        Public. Predicted and true classes, as 0 and 1.
    constraint : {"demographic_parity", "equalized_odds", "accuracy_parity"}
        Public. What is compared.
    epsilon, delta : float
        Public. What it costs.
    confidence : float
        Public. Of all intervals together.

    Guarantee
    ---------
    One release of noisy counts: a record whose group is changed leaves one cell and enters another, so counts move by
    2 in l1 and sqrt(2) in l2. Laplace noise without a delta, Gaussian noise with one.

    Examples
    --------
    >>> groups, predicted = np.repeat(["f", "m"], 1000), np.tile([0, 0, 1, 1], 500)
    >>> found = attribute_fairness(SensitiveAttribute(groups, ("f", "m"), Budget(1.0)), predicted, predicted)
    >>> bool(found.difference.low < 0.02), bool(found.difference.high < 0.1)
    (True, True)
    """
    check_confidence(ASKED, confidence)
    kind = constraint_of(ASKED, constraint)
    outcomes, strata = _outcomes(kind, predicted, labels, len(attribute))
    noise = calibrate(Gaussian if delta > 0 else Laplace, Budget(epsilon, delta))
    kinds, groups = 2 * kind.strata, len(attribute.groups)
    with attribute.permit(noise.event, ASKED) as permit:
        counts = permit.ask(GroupCounts(outcomes * kind.strata + strata, (kinds, groups)), noise)
        permit.commit(counts.tobytes())
    stddev = noise.stddev(GROUPED, counts.size, attribute.neighbors)
    half_width = joint_half_width(noise.law, stddev, counts.size, confidence)
    counts = counts.reshape(2, kind.strata, groups)
    return _rates(kind, attribute.groups, counts, half_width, permit.receipt, confidence)


def fairness(
    data: PrivateData,
    predicted: str,
    label: str,
    group: str,
    *,
    constraint: str = "demographic_parity",
    epsilon: float = 1.0,
    delta: float = 0.0,
    confidence: float = CONFIDENCE,
    key: str | None = None,
) -> GroupRates:
    """Release how differently groups are treated, where whole records are secret.

    Parameters
    ----------
    data : PrivateData
        Records with a predicted class, a class and a group. One with a missing value is not counted.
    predicted, label, group : str
        Public. Columns with public categories: two for the classes, the same for both, and two or more for the groups.
    constraint, epsilon, delta, confidence
        Public. See `attribute_fairness`.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Guarantee
    ---------
    The event on the receipt: one release of a contingency table, for the neighbors and the unit of the data set.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Schema
    >>> schema = Schema({"said": Category((0, 1)), "is": Category((0, 1)), "sex": Category(("f", "m"))})
    >>> columns = {"said": [0, 1] * 1000, "is": [0, 1] * 1000, "sex": ["f"] * 1000 + ["m"] * 1000}
    >>> found = fairness(PrivateData.of(columns, schema, Budget(1.0)), "said", "is", "sex")
    >>> found.difference.name, bool(found.difference.high < 0.1)
    ('demographic_parity difference', True)
    """
    check_confidence(ASKED, confidence)
    kind, schema = constraint_of(ASKED, constraint), data.schema
    classes = [schema.category(column).values for column in (predicted, label)]
    if len(classes[0]) != 2 or classes[0] != classes[1]:
        obstacle = f"the classes are {list(classes[0])} and {list(classes[1])}"
        raise ParameterError(ASKED, obstacle, "Give two columns of the same two classes.")
    groups = checked_groups(ASKED, schema.category(group).values)
    question = contingency_of(schema, (predicted, label, group), (0, 0, 0))
    released = asked(data, question, Budget(epsilon, delta), ASKED, key)
    table = released.values.reshape(2, 2, len(groups))
    cells = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    outcomes, strata = _outcomes(kind, cells[:, 0], cells[:, 1], 4)
    counts, summed = np.zeros((2, kind.strata, len(groups))), 4 // (2 * kind.strata)
    np.add.at(counts, (outcomes, strata), table[cells[:, 0], cells[:, 1]])
    one = joint_half_width(released.spread.law, released.spread.stddev, table.size, confidence)
    return _rates(kind, groups, counts, summed * one, released.receipt, confidence)


def _outcomes(kind: Constraint, predicted: Any, labels: Any, n: int) -> tuple[Any, Any]:
    """The outcome and the stratum of each record."""
    said, known = np.asarray(predicted), np.asarray(labels)
    if said.shape != (n,) or known.shape != (n,) or not (np.isin(said, (0, 1)).all() and np.isin(known, (0, 1)).all()):
        raise ParameterError(ASKED, "predictions and labels are not 0 or 1 for each record", "Give classes as 0 and 1.")
    said, known = said.astype(np.int64), known.astype(np.int64)
    return kind.outcomes(said, known), kind.stratum(torch.from_numpy(known)).numpy()


def _rates(
    kind: Constraint, groups: tuple[Any, ...], counts: Array, half_width: float, receipt: Receipt, confidence: float
) -> GroupRates:
    names = tuple(map(str, groups)) * kind.strata
    strata = {"class": tuple(str(one) for one in range(kind.strata) for _ in groups)} if kind.strata > 1 else {}
    return GroupRates(
        name=kind.name,
        receipt=receipt,
        confidence=confidence,
        labels={**strata, "group": names},
        counts=counts,
        half_width=half_width,
    )
