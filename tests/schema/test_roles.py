"""Roles: nothing is a quasi-identifier unless somebody says so."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.core.errors import SchemaError
from discreet.query.schema_file import parsed
from discreet.schema.roles import Roles
from discreet.schema.schema import Schema

SCHEMA = Schema.numeric(0.0, 1.0, 2)


def test_a_column_that_is_not_named_is_other() -> None:
    roles = Roles({"x0": "quasi-identifier"})
    assert (roles["x1"], roles.quasi_identifiers, roles.sensitive, roles.identifying) == ("other", ("x0",), (), ())
    assert Roles(roles) == roles
    assert Roles().quasi_identifiers == ()


def test_identifying_columns_are_never_given_away() -> None:
    assert Roles({"x0": "identifying"}).given_away(SCHEMA.columns) == ("x1",)


def test_a_schema_file_says_roles() -> None:
    columns = '[columns.age]\nkind="number"\nlower=0\nupper=120\nrole="{}"\n[columns.ill]\nkind="boolean"\n'
    assert parsed(columns.format("quasi-identifier")).roles == Roles({"age": "quasi-identifier"})
    with pytest.raises(SchemaError, match=r"column 'age': no role is called 'quasi'.*Roles are identifying, quasi-id"):
        parsed(columns.format("quasi"))


def test_unknown_roles_and_columns_and_no_quasi_identifier_are_refused() -> None:
    with pytest.raises(SchemaError, match="column 'x0': its role is 'secret'"):
        Roles({"x0": "secret"})
    with pytest.raises(SchemaError, match="no column is a quasi-identifier"):
        Roles({"x0": "sensitive"}).checked("anonymise", SCHEMA)
    with pytest.raises(SchemaError, match="there is no column 'y'"):
        Roles({"y": "quasi-identifier"}).checked("anonymise", SCHEMA)


@pytest.mark.parametrize("odd", [True, 5, "age", b"age", [1], {1: "other"}, {"age": 5}, {"age": ["secret"]}, object()])
def test_what_is_no_mapping_of_names_to_roles_is_refused(odd: Any) -> None:
    with pytest.raises(SchemaError, match=r"(roles: t|column 'age': its role is)") as refusal:
        Roles(odd)
    assert "secret" not in str(refusal.value)
