"""What a column is to somebody who wants to recognise people in a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.checks import quoted, shown
from discreet.core.errors import SchemaError
from discreet.schema.schema import Schema

IDENTIFYING, QUASI, SENSITIVE, OTHER = "identifying", "quasi-identifier", "sensitive", "other"
ROLES = (IDENTIFYING, QUASI, SENSITIVE, OTHER)


@dataclass(frozen=True, init=False)
class Roles:
    """The roles of columns. One that is not named is "other": nothing is a quasi-identifier unless somebody says so.

    Parameters
    ----------
    roles : mapping of str to str
        Public. The role of each column: "identifying" (a name or number of one person, which is never given away),
        "quasi-identifier" (others may know it, and together such columns single people out), "sensitive" (what must
        not be found out) or "other".

    Examples
    --------
    >>> roles = Roles({"name": "identifying", "age": "quasi-identifier", "ill": "sensitive"})
    >>> roles.quasi_identifiers, roles.sensitive, roles["height"]
    (('age',), ('ill',), 'other')
    """

    roles: tuple[tuple[str, str], ...]

    def __init__(self, roles: Mapping[str, str] | Roles | None = None) -> None:
        if not isinstance(roles, Mapping | Roles | None):
            raise SchemaError("roles", f"they are {shown(roles)}", 'Give a mapping: {"age": "quasi-identifier"}.')
        given = roles.roles if isinstance(roles, Roles) else tuple((roles or {}).items())
        for name, role in given:
            if not isinstance(name, str):
                raise SchemaError("roles", f"the name of a column is {shown(name)}", "Give texts.")
            if not (isinstance(role, str) and role in ROLES):
                remedy = f"Give one of {', '.join(ROLES)}."
                raise SchemaError(f"column {name!r}", f"its role is {quoted(role)}", remedy)
        object.__setattr__(self, "roles", given)

    def __getitem__(self, name: str) -> str:
        return dict(self.roles).get(name, OTHER)

    @property
    def identifying(self) -> tuple[str, ...]:
        return self._of(IDENTIFYING)

    @property
    def quasi_identifiers(self) -> tuple[str, ...]:
        return self._of(QUASI)

    @property
    def sensitive(self) -> tuple[str, ...]:
        return self._of(SENSITIVE)

    def given_away(self, names: Iterable[str]) -> tuple[str, ...]:
        """Those of these columns that are not identifying."""
        return tuple(name for name in names if self[name] != IDENTIFYING)

    def checked(self, asked: str, schema: Schema) -> Roles:
        """The same, if all columns are in the schema and at least one is a quasi-identifier."""
        for name, _ in self.roles:
            if name not in schema.columns:
                raise SchemaError(asked, f"there is no column {name!r}", f"There are {', '.join(schema.columns)}.")
        if not self.quasi_identifiers:
            remedy = (
                'Say which columns others may know: roles={"age": "quasi-identifier"}, or role = in the schema file.'
            )
            raise SchemaError(asked, "no column is a quasi-identifier", remedy)
        return self

    def _of(self, role: str) -> tuple[str, ...]:
        return tuple(name for name, own in self.roles if own == role)

    def to_dict(self) -> dict[str, Any]:
        return dict(self.roles)
