"""Roles and names of columns as users give them: of another kind, they are refused before they are looked at."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.core.checks import shown
from discreet.core.errors import SchemaError
from discreet.schema.roles import Roles


def given_roles(asked: str, roles: Any) -> Roles:
    """The roles of columns, by their names.

    Examples
    --------
    >>> given_roles("table", {"age": "quasi-identifier"}).quasi_identifiers
    ('age',)
    """
    if isinstance(roles, Roles):
        return roles
    if not isinstance(roles, Mapping) or not all(isinstance(one, str) for pair in roles.items() for one in pair):
        raise SchemaError(asked, f"roles is {shown(roles)}", 'Give a mapping: {"age": "quasi-identifier"}.')
    return Roles(roles)


def given_names(asked: str, parameter: str, names: Any) -> tuple[str, ...]:
    """The names of columns.

    Examples
    --------
    >>> given_names("table", "ordered", ["grade"])
    ('grade',)
    """
    plain = isinstance(names, Sequence) and not isinstance(names, str | bytes)
    if not plain or not all(isinstance(name, str) for name in names):
        raise SchemaError(asked, f"{parameter} is {shown(names)}", "Give a list of columns.", parameter=parameter)
    return tuple(names)
