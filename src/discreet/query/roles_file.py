"""The roles of columns as a TOML file, for a table that is given away or checked.

    age = "quasi-identifier"        # others may know it
    name = "identifying"            # is never given away
    illness = "sensitive"           # must not be found out; a column that is not named is "other"

A schema file whose columns have a `role` will do as well.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from discreet.core.errors import SchemaError
from discreet.query.toml_file import read_toml
from discreet.schema.roles import ROLES, Roles


def read_roles(path: str | Path) -> Roles:
    """The roles in a TOML file, by column; `SchemaError` at the first mistake, with the column and the way out.

    Parameters
    ----------
    path : path
        Public. Of a file of roles, or of a schema file whose columns have them.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "roles.toml").write_text('age = "quasi-identifier"')
    ...     read_roles(Path(folder, "roles.toml")).quasi_identifiers
    ('age',)
    """
    where = f"roles {path}"
    found = read_toml(where, path)
    own = _of_schema(found["columns"]) if isinstance(found.get("columns"), dict) else found
    for name, role in own.items():
        if not isinstance(role, str) or role not in ROLES:
            obstacle = f"the role of {name!r:.80} is {role!r:.40}"
            raise SchemaError(where, obstacle, f"Roles are {', '.join(ROLES)}.", column=name)
    if not own:
        raise SchemaError(where, "it names no role", 'Write such as: age = "quasi-identifier".')
    return Roles(own)


def _of_schema(columns: dict[str, Any]) -> dict[str, Any]:
    return {name: entry["role"] for name, entry in columns.items() if isinstance(entry, dict) and "role" in entry}
