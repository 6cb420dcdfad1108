"""The table of options in the manual, from the declarations of statistics: so it says what every docstring says."""

from __future__ import annotations

from collections import Counter

from discreet.query.words import declared
from discreet.releases.declaration import Option, declaration_of
from discreet.releases.option_docs import SHARED

MARK = "<!-- the table of options -->"
NAMED = 4  # statistics that a row names


def table() -> str:
    """A row for each option that two statistics or more take: what it is, and which they are."""
    every = {name: declaration_of(one).options for name, one in declared().items()}
    shared = Counter(option for options in every.values() for option in options)
    taken = {option: [name for name in every if option in every[name]] for option, times in shared.items() if times > 1}
    rows = [_row(every[names[0]][option], names, len(every)) for option, names in taken.items()]
    return "\n".join(["| name | what it is | taken by |", "|---|---|---|", *rows])


def _row(option: Option, names: list[str], number: int) -> str:
    meaning = SHARED[""].get(option.name, option).meaning.removeprefix("Public. ").replace("|", "\\|")
    listed = ", ".join(f"`{name}`" for name in names[:NAMED])
    more = (
        "all" if len(names) == number else listed if len(names) <= NAMED else f"{listed} and {len(names) - NAMED} more"
    )
    return f"| `{option.name}` | {meaning} | {more} |"
