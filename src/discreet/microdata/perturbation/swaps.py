"""Tables in which records have exchanged values."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.checks import check_whole, names_of
from discreet.core.errors import SchemaError
from discreet.mechanisms.microdata.swapped_values import SwappedPlaces, SwappedRanks
from discreet.microdata.perturbation.given_columns import GivenColumns, check_share
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.waived_table import gives_away, waived_table
from discreet.trust.private_data import PrivateData


@gives_away
def swap_ranks(
    data: PrivateData,
    columns: Sequence[str],
    *,
    window: float = 0.1,
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> PublishedTable:
    """Give a table away in which values of each column are exchanged between records of near ranks: NOT PRIVATE.

    Each column has exactly the values that it had, so whatever is computed from one column alone is exact. Columns are
    swapped independently, by pairs inside blocks of ranks with a random start (Moore 1996 pairs one record after
    another). Categories are ordered as the schema lists them. No value leaves its bounds, and the schema stays. Missing
    values stay where they are; rows are in a random order.

    Parameters
    ----------
    columns : sequence of str
        Public. Those that are swapped.
    window : float
        Public. How many ranks a value may move, as a part of all; one rank at least.

    Returns
    -------
    PublishedTable
        The records.

    Guarantee
    ---------
    None; the event is `NoPromise`. Whoever knows several columns of a person knows in which window of ranks each of
    them lies; few records are in all windows, and often one alone: Nin, Herranz and Torra 2008. `discreet.synthesize`
    keeps a promise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.schema.schema import Number
    >>> data = PrivateData.of({"age": range(100)}, {"age": Number(0, 100, step=1)}, Budget(1.0))
    >>> table = swap_ranks(data, "age", waiver="approved by the board on 3 May")
    >>> sorted(table["age"].tolist()) == list(range(100))
    True
    """
    name = "table with swapped ranks"
    given = GivenColumns.of(data, columns, unchanged)
    check_share(name, "window", window)
    mechanism = SwappedRanks(len(given.changed), float(window))
    schema = given.described({column: given.schema.columns[column] for column in given.changed})
    return waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)


@gives_away
def swap_places(
    data: PrivateData,
    place: str,
    columns: Sequence[str],
    *,
    keys: Sequence[str],
    risky: Sequence[str] | None = None,
    rare: int = 3,
    rate: float = 0.05,
    household: str | None = None,
    waiver: str | None = None,
    key: str | None = None,
) -> PublishedTable:
    """Give a table away in which records with the same keys have exchanged places: NOT PRIVATE.

    Records that are rare in their place are swapped if any partner is elsewhere, and each other one with probability
    `rate`. The counts of place and keys together, and of all columns except the place together, are exactly as before;
    what is not exact is how the place depends on columns that are no keys (Dalenius and Reiss 1982). No value is made
    up, and the schema stays. A missing value is a value of its own; rows are in a random order.

    Parameters
    ----------
    place : str
        Public. The column that is exchanged, such as a region.
    columns : sequence of str
        Public. The other columns of the table; they stay as they are.
    keys : sequence of str
        Public. Those among them in which both of a pair are equal.
    risky : sequence of str, optional
        Public. Those among them that make a record rare in its place; by default the keys.
    rare : int
        Public. A record is rare if its place has fewer than so many with the same values of risky columns.
    rate : float
        Public. The probability with which any other record is chosen.
    household : str, optional
        Public. A column that is the same for all records of a household. They move together if any of them is chosen,
        to the place of a household of as many records, with the same keys; so few partners are left where households
        are large, and more of them stay. It is given away only if it is among the other columns. A record without one
        moves alone; a household in two places is one in each.

    Returns
    -------
    PublishedTable
        The records.

    Guarantee
    ---------
    None; the event is `NoPromise`. Most records are true. Where an exact table of the place and a column that is no key
    is published too, as statistical offices do, its differences from the swapped one show which values moved, and where
    swaps are few, each pair; Garfinkel, Abowd and Martindale 2018 rebuild whole records from such tables.
    `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> people = {"town": ["a", "b"] * 50, "sex": ["f", "f", "m", "m"] * 25, "ill": ["no"] * 99 + ["yes"]}
    >>> bounds = {"town": ["a", "b"], "sex": ["f", "m"], "ill": ["no", "yes"]}
    >>> data = PrivateData.of(people, bounds, Budget(1.0))
    >>> table = swap_places(data, "town", ["sex", "ill"], keys=["sex"], rate=0.5, waiver="approved by the board")
    >>> int(sum((table["town"] == "a") & (table["sex"] == "f")))
    25
    """
    name = "table with swapped places"
    given = GivenColumns.of(data, (place,), columns)
    alike = _among(name, "keys", keys, given.unchanged)
    lonely = alike if risky is None else _among(name, "risky", risky, given.unchanged)
    check_whole(name, "rare", rare, least=0)
    check_share(name, "rate", rate)
    schema = given.described({place: given.schema.columns[place]})
    read = given.names if household is None else _with_household(data, household, given)
    home = None if household is None else read.index(household)
    mechanism = SwappedPlaces(alike, lonely, int(rare), float(rate), home, len(given.names))
    return waived_table(data, name, read, mechanism, lambda _: schema, waiver=waiver, key=key)


def _with_household(data: PrivateData, household: str, given: GivenColumns) -> tuple[str, ...]:
    """The columns that are read, with that of households."""
    data.schema.values((household,))
    if household in given.changed:
        remedy = "Name a column that is the same for all records of a household."
        raise SchemaError("table with swapped places", f"{household!r:.80} is the place itself", remedy)
    return given.names if household in given.names else (*given.names, household)


def _among(asked: str, name: str, columns: Sequence[str], those: tuple[str, ...]) -> tuple[int, ...]:
    """The places of columns behind the first, in the order of a table."""
    wanted = names_of(columns)
    for column in wanted:
        if column not in those:
            remedy = f"Name some of {', '.join(those)}."
            raise SchemaError(asked, f"{name} has {column!r:.80}, which is not among the other columns", remedy)
    return tuple(1 + those.index(column) for column in dict.fromkeys(wanted))
