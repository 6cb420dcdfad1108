"""`discreet anonymize`: a table in which everybody is one of k, by the owner's waiver."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.microdata.anonymity.anonymize import anonymize as anonymous
from discreet.query.roles_file import read_roles
from discreet.query.schema_file import SchemaFile, read_schema
from discreet.query.toml_file import read_toml
from discreet.schema.roles import Roles
from discreet.service.cli.account import paid_key
from discreet.service.cli.private_file import private_file, unquoted
from discreet.service.cli.tables.table_file import TableFile

ASKED = "discreet anonymize"
OPTIONS = ("l", "diversity", "c", "t", "method", "suppression", "ordered", "waiver")
WARNING = "NOT PRIVATE: no promise is kept; a second table of the same people undoes this one"


def anonymize(arguments: Namespace) -> int:
    """Write a table whose quasi-identifiers are coarse enough, as the roles of its columns say."""
    _check_waiver(arguments)
    described = read_schema(arguments.schema)
    roles, options = _roles(arguments, described), _options(arguments)
    key = paid_key(arguments)
    with ExitStack() as files:
        out = files.enter_context(TableFile(arguments))
        data = private_file(arguments, described, Budget(1.0), files)
        table = unquoted(ASKED, lambda: anonymous(data, roles, k=arguments.k, key=key, **options))
        out.save(table, key)
        out.say(table, {**table.notes, "warning": WARNING}, as_json=arguments.json)
    return 0


def _check_waiver(arguments: Namespace) -> None:
    if arguments.waiver is None or not arguments.waiver.strip():
        remedy = "Use discreet synthesize, which keeps one; or give --waiver the owner's reason, which goes on record."
        raise NotPermitted(ASKED, "it keeps no promise", remedy)


def _roles(arguments: Namespace, described: SchemaFile) -> Roles:
    """Those of the schema, and before them those of the file of roles."""
    own = {} if arguments.roles is None else read_roles(arguments.roles).to_dict()
    return Roles(described.roles.to_dict() | own)


def _options(arguments: Namespace) -> dict[str, Any]:
    given = {name: getattr(arguments, name) for name in OPTIONS}
    if arguments.hierarchies is not None:
        given["hierarchies"] = read_toml(f"hierarchies {arguments.hierarchies}", arguments.hierarchies)
    return {name: value for name, value in given.items() if value is not None}
