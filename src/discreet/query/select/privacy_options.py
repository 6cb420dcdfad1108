"""What a text says of privacy as BigQuery writes it, with which a SELECT may begin."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, NoReturn

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.query.select.sql_text import ASKED, place_in
from discreet.trust.private_data import PrivateData

CLAUSE = re.compile(r"\s*SELECT(\s+WITH\s+DIFFERENTIAL_PRIVACY\s+OPTIONS\s*\(([^()]*)\))", re.IGNORECASE)
BOUNDS = re.compile(r"\bcontribution_bounds_per_(row|group)\b(?=\s*=>)", re.IGNORECASE)
PER = {
    "row": "Write such as sum(least(greatest(stay, 0), 60)).",
    "group": "Write FROM (SELECT who, ward, sum(stay) AS stay FROM visits GROUP BY who, ward) AS q, with bounds.",
}


@dataclass(frozen=True)
class PrivacyOptions:
    """The price, and what units are and how much they contribute: the latter is checked, as the data have it already.

    Parameters
    ----------
    text : str
        Public. The whole statement, for errors that show where.
    epsilon, delta : float, optional
        Public. The price.
    privacy_unit_column : str, optional
        Public. What identifies units.
    max_groups_contributed : int, optional
        Public. The most groups that a unit is counted in.
    max_rows_contributed : int, optional
        Public. The most rows of a unit that are used.
    places : dict of str to int
        Where each of them stands.

    Examples
    --------
    >>> text = "SELECT WITH DIFFERENTIAL_PRIVACY OPTIONS(epsilon=1, delta=1e-6) count(*) FROM visits"
    >>> rest, said = PrivacyOptions.read(text)
    >>> " ".join(rest.split()), said.epsilon, said.delta
    ('SELECT count(*) FROM visits', 1.0, 1e-06)
    """

    text: str = ""
    epsilon: float | None = None
    delta: float | None = None
    privacy_unit_column: str | None = None
    max_groups_contributed: int | None = None
    max_rows_contributed: int | None = None
    places: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, text: str) -> tuple[str, PrivacyOptions]:
        """The text with blanks for its clause of privacy, so that all else stays where it is; and what that says."""
        if not isinstance(text, str):
            return text, cls()
        if bounds := BOUNDS.search(text):
            obstacle = f"bounds are those of the schema, or of what is computed{place_in(text, bounds.start())}"
            raise NotPermitted(f"{ASKED} {bounds[0]!r}", obstacle, PER[bounds[1].lower()])
        found = CLAUSE.match(text)
        if found is None:
            return text, cls(text)
        given = _given(text, found)
        own = cls(text, places={name: start for name, (_, start) in given.items()})
        values = {name: _READ[name](own, name, value) for name, (value, _) in given.items()}
        blank = re.sub(r"\S", " ", found[1])
        return f"{text[: found.start(1)]}{blank}{text[found.end(1) :]}", replace(own, **values)

    def budget(self, epsilon: float | None, delta: float | None) -> Budget:
        """The price, which is said in the text or beside it; 1 and 0 by default."""
        beside = {"epsilon": epsilon, "delta": delta}
        for name, value in beside.items():
            own = getattr(self, name)
            if None not in (value, own) and value != own:
                raise ParameterError(ASKED, f"{name} is {value} and the text says {own}", "Give it once.")
        said = {name: getattr(self, name) if value is None else value for name, value in beside.items()}
        return Budget(**{"epsilon": 1.0, "delta": 0.0, **{name: one for name, one in said.items() if one is not None}})

    def check_unit(self, data: PrivateData) -> None:
        """Refuse another unit than that of the data."""
        own = data.unit.column
        if self.privacy_unit_column is not None and self.privacy_unit_column != (own or "").lower():
            obstacle = f"this data set protects {f'units by {own}' if own else f'each {data.unit.kind} by itself'}"
            self._refused("privacy_unit_column", obstacle, "Leave it out, or open the data with this unit.")

    def check_contributed(self, data: PrivateData, grouped: bool) -> None:
        """Refuse tighter limits than those that the rows of a unit have here."""
        rows, unit = data.unit.rows, data.unit.column or "its column"
        if self.max_rows_contributed is not None and self.max_rows_contributed < rows:
            remedy = f"Open the data with Unit(rows={self.max_rows_contributed}), or bring them together by {unit}."
            self._refused("max_rows_contributed", f"a unit may have {rows} rows here", remedy)
        if grouped and self.max_groups_contributed is not None and self.max_groups_contributed < rows:
            remedy = f"Bring the rows of each unit and group together first: FROM (... GROUP BY {unit}, ...) AS q."
            self._refused("max_groups_contributed", f"a unit may have {rows} rows here, in as many groups", remedy)

    def _refused(self, name: str, obstacle: str, remedy: str, why: type[DiscreetError] = NotPermitted) -> NoReturn:
        raise why(f"{ASKED} {name!r}", f"{obstacle}{place_in(self.text, self.places[name])}", remedy)

    def _misread(self, name: str, value: str, remedy: str) -> NoReturn:
        self._refused(name, f"it is {value!r:.40}", remedy, ParameterError)

    def _number(self, name: str, value: str) -> float:
        try:
            return float(value)
        except ValueError:
            self._misread(name, value, "Give a number.")

    def _whole(self, name: str, value: str) -> int | None:
        if value.upper() == "NULL":
            return None
        if re.fullmatch(r"[1-9][0-9]{0,17}", value) is None:
            self._misread(name, value, "Give a whole number, or NULL for that of the data.")
        return int(value)

    def _column(self, name: str, value: str) -> str:
        found = re.fullmatch(r"(?:\w+\.)?([\"`]?)(\w+)\1", value)
        if found is None:
            self._misread(name, value, "Name a column.")
        return found[2].lower()


_READ: dict[str, Callable[[PrivacyOptions, str, str], Any]] = {
    "epsilon": PrivacyOptions._number,
    "delta": PrivacyOptions._number,
    "privacy_unit_column": PrivacyOptions._column,
    "max_groups_contributed": PrivacyOptions._whole,
    "max_rows_contributed": PrivacyOptions._whole,
}


def _given(text: str, clause: re.Match[str]) -> dict[str, tuple[str, int]]:
    """What is said of each option, and where."""
    given: dict[str, tuple[str, int]] = {}
    for part in re.finditer(r"[^,\s][^,]*", clause[2]):
        name, _, value = (piece.strip() for piece in part[0].partition("="))
        start = clause.start(2) + part.start()
        if name.lower() not in _READ:
            obstacle = f"it is no option that is known here{place_in(text, start)}"
            raise NotPermitted(f"{ASKED} {name!r:.60}", obstacle, f"There are {', '.join(_READ)}.")
        if name.lower() in given:
            raise ParameterError(f"{ASKED} {name!r}", f"it is given twice{place_in(text, start)}", "Give it once.")
        given[name.lower()] = value, start
    return given
