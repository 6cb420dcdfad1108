"""Quantiles of every group, from one release of a tree of counts for each: together they cost what one does."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.releases.columns import Series
from discreet.releases.groups import Groups
from discreet.releases.joint_plan import JointPlan
from discreet.releases.table import Table
from discreet.schema.dates import Temporal
from discreet.statistics.ranks.quantiles_by_tree import ByTree
from discreet.statistics.ranks.rank_width import Found


def grouped_quantiles(way: ByTree, groups: Groups, name: str, levels: Sequence[float], key: str | None) -> Table:
    """Pay for the trees, and read the quantiles of each group off its own.

    Parameters
    ----------
    way : ByTree
        How the quantiles are found, and what they may cost.
    groups : Groups
        Public. The groups.
    name : str
        Public. What is asked, without the groups.
    levels : sequence of float
        Public. Of the quantiles, in the order of the table's columns.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.
    """
    asked = f"{name} by {groups.title}"
    plan = calibrate(JointPlan(way.parts), way.budget)
    groups.question(way.question)  # if there are too many groups, nothing is paid for them
    with way.of.data.permit(plan.event, asked, key=key) as permit:
        found = way.found_in(groups, permit, plan.mechanisms)
    places = [way.levels.index(level) for level in levels]
    called = ["quantile"] if len(levels) == 1 else [f"{level:.4g} quantile" for level in levels]
    return Table(
        name=asked,
        labels=groups.labels,
        series=tuple(_series(one, found, place, way.of.time) for one, place in zip(called, places, strict=True)),
        confidence=way.confidence,
        population=way.population,
        receipt=permit.receipt,
    )


def _series(name: str, found: Sequence[Found], place: int, kind: Temporal | None) -> Series:
    values = np.array([one.values[place] for one in found])
    ends = [one.ends[:, place] for one in found if one.ends is not None]
    low, high = np.array(ends).T if ends else (None, None)
    return Series(name, values, None, low, high, kind=kind)
