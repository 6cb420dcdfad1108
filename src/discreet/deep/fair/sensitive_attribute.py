"""Who is in which group: a secret column, with the account that pays for what is asked about it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Event
from discreet.core.held import Secret
from discreet.core.ledger import Ledger
from discreet.core.neighbors import Neighbors, Unit
from discreet.deep.fair.constraint import Codes
from discreet.deep.questions.fair_sums import AttributeView
from discreet.display.plain import plain
from discreet.ledger.memory_ledger import account_of
from discreet.noise.system_bits import system_bits
from discreet.schema.schema import Category
from discreet.trust.curator import ViewCurator
from discreet.trust.holder import Holder
from discreet.trust.permit import Description
from discreet.trust.sources.columns.decoding import codes
from discreet.trust.sources.columns.raw_values import array_of

ASKED = "sensitive attribute"


class SensitiveAttribute(Holder, Secret):
    """The group of each record. Neighbors differ in the group of one record; all else about the records is known.

    This protects less than records: whoever knows a person's features learns whether the person is there. Its account
    is opened for this attribute alone, so it cannot pay for anything about whole records.

    Parameters
    ----------
    values : array of shape (n,)
        The group of each record. A value that is not declared, or missing, is in no group: it is counted nowhere.
    groups : sequence
        Public. All groups that may be, at least two: texts, numbers or booleans, found as those of a `Category` are.
    ledger : Ledger or Budget
        The account. A budget alone is an account in memory, for as many plans as it pays.
    name : str
        Public. What the attribute is called.
    bits : Bits, optional
        Where samples and noise come from; anything but the system's makes releases that are not private.

    Examples
    --------
    >>> SensitiveAttribute(["f", "m", "m"], ("f", "m"), Budget(1.0, 1e-5), name="sex")
    SensitiveAttribute(sex of 3 records: f, m)
    """

    neighbors = Neighbors.REPLACE

    def __init__(
        self,
        values: Any,
        groups: Sequence[Any],
        ledger: Ledger | Budget,
        *,
        name: str = "attribute",
        bits: Bits | None = None,
    ) -> None:
        self.groups, self.unit = checked_groups(ASKED, groups), Unit("attribute", column=name)
        codes = coded(values, self.groups)
        self._size = len(codes)
        self._curator = ViewCurator(AttributeView(codes, self.unit, system_bits() if bits is None else bits))
        self.ledger = account_of(ledger, Neighbors.REPLACE, self.unit)
        if (self.ledger.neighbors, self.ledger.unit) != (Neighbors.REPLACE, self.unit):
            obstacle = f"the ledger was opened for {self.ledger.neighbors} and {self.ledger.unit}"
            raise ParameterError(ASKED, obstacle, f"Open one for {Neighbors.REPLACE} and {self.unit}.")

    def _promise(self, plan: Event | Description) -> ViewCurator:
        return self._curator

    def __len__(self) -> int:
        """The number of records, which is public."""
        return self._size

    def __repr__(self) -> str:
        groups = ", ".join(map(str, self.groups))
        return plain(f"SensitiveAttribute({self.unit.column} of {len(self)} records: {groups})")


def checked_groups(asked: str, groups: Any) -> tuple[Any, ...]:
    """The declared groups; refused where there is nothing to compare."""
    if groups is None:
        obstacle = "the groups are not given, and taking them from the data would give a record away"
        raise ParameterError(asked, obstacle, "Pass groups=[...] from what you know without the data.")
    found = tuple(array_of(groups).tolist())
    if len(found) < 2 or len(set(found)) != len(found):
        obstacle = f"the declared groups are {list(found)}"
        raise ParameterError(asked, obstacle, "Declare two groups or more, each once: a constraint compares groups.")
    return found


def coded(values: Any, groups: tuple[Any, ...]) -> Codes:
    """The place of each value among the groups, as in a column of a table; -1 for others, each by itself.

    Examples
    --------
    >>> coded([1, "?", "0", [1], 1.0, 3j], (0, 1))
    array([ 1, -1,  0, -1,  1, -1])
    """
    raw = array_of(values)
    if raw.ndim != 1:
        raise ParameterError(ASKED, f"its values have the shape {raw.shape}", "Give one for each record.")
    return np.nan_to_num(codes(raw, Category(groups)), nan=-1.0).astype(np.int64)
