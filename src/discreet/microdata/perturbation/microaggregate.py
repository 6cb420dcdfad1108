"""Tables in which records became equal to others near them."""

from __future__ import annotations

from collections.abc import Sequence

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.mechanisms.microdata.microaggregation import Microaggregation
from discreet.microdata.perturbation.given_columns import GivenColumns
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.waived_table import gives_away, waived_table
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Column, Number
from discreet.trust.private_data import PrivateData

MOST = 256  # coordinates: one for a value of a category, two for a number


@gives_away
def microaggregate(
    data: PrivateData,
    columns: Sequence[str],
    *,
    k: int = 5,
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> PublishedTable:
    """Give a table away in which at least k records each have the same values: NOT PRIVATE.

    Near records are put into groups of k to 2 k - 1 by their maximum distance to the average vector (MDAV:
    Domingo-Ferrer and Mateo-Sanz 2002). Numbers become the mean of their group, dates the nearest one, categories the
    most frequent one; what is missing in at least half of a group becomes missing. So means of numbers without missing
    values are exact, and variances shrink; `notes["lost"]` says by which part. No value leaves its bounds; numbers have
    no steps any more. Fewer than k records are one group, whose size is `notes["smallest"]`. Rows are in a random
    order.

    Parameters
    ----------
    columns : sequence of str
        Public. Those that become equal: all that others may know of a person.
    k : int
        Public. The least size of a group.

    Returns
    -------
    PublishedTable
        The records, and in `notes` how many `groups` there are, how many records the `smallest` has, and what was
        `lost`.

    Guarantee
    ---------
    None; the event is `NoPromise`. A mean of k values and the k - 1 others give a value away. If all of a group have
    the same unchanged value, it is that of each of them: Machanavajjhala, Gehrke, Kifer and Venkitasubramaniam 2006.
    Two tables of the same people, grouped differently, can be compared: Ganta, Kasiviswanathan and Smith 2008.
    `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of({"age": [20, 21, 22, 80, 81, 82]}, {"age": Number(0, 100, step=1)}, Budget(1.0))
    >>> table = microaggregate(data, "age", k=3, waiver="approved by the board on 3 May")
    >>> sorted(table["age"].tolist()), table.notes["smallest"]
    ([21.0, 21.0, 21.0, 81.0, 81.0, 81.0], 3)
    """
    name = "microaggregated table"
    given = GivenColumns.of(data, columns, unchanged)
    check_whole(name, "k", k, least=2)
    described = {column: given.schema.columns[column] for column in given.changed}
    kinds = tuple(len(one.values) if isinstance(one, Category) else 0 for one in described.values())
    size = sum(kind + 1 if kind else 2 for kind in kinds)
    if size > MOST:
        obstacle = f"its columns have {size} coordinates, one for each value of a category"
        raise ParameterError(name, obstacle, f"Name columns with at most {MOST}.", size=size)
    steps = tuple(1.0 if isinstance(one, Temporal) else 0.0 for one in described.values())
    schema = given.described({column: _mean(one) for column, one in described.items()})
    mechanism = Microaggregation(kinds, steps, int(k))
    return waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)


def _mean(column: Column) -> Column:
    """What means of values are."""
    plain = isinstance(column, Number) and not isinstance(column, Temporal)
    return Number(column.lower, column.upper) if plain else column  # type: ignore[union-attr]
