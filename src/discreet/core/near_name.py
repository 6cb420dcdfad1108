"""The name that was probably meant, for errors."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

LISTED = 12  # names that an error lists


def near_name(name: str, names: Iterable[str]) -> str | None:
    """The name that is spelled most nearly alike, whatever its case; None where none is.

    Examples
    --------
    >>> near_name("Aeg", ["age", "sex"]), near_name("height", ["age", "sex"])
    ('age', None)
    """
    spelled = {each.casefold(): each for each in reversed(list(names))}
    close = difflib.get_close_matches(name.casefold(), spelled, n=1)
    return spelled[close[0]] if close else None


def instead_of(name: str, names: Iterable[str]) -> str:
    """What a remedy says of a name that is none of these: the near one, or the first of them.

    Examples
    --------
    >>> instead_of("Age", ["age", "sex"]), instead_of("height", ["age", "sex"])
    ("Did you mean 'age'?", 'There are age, sex.')
    """
    there = list(names)
    near = near_name(name, there)
    if near is not None:
        return f"Did you mean {near!r}?"
    more = f" and {len(there) - LISTED} more" if len(there) > LISTED else ""
    return f"There are {', '.join(there[:LISTED])}{more}."
