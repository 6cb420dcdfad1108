"""Roles and names: those of another kind are refused."""

from __future__ import annotations

from typing import Any

import pytest

from discreet.core.errors import SchemaError
from discreet.microdata.anonymity.given_roles import given_names, given_roles
from discreet.schema.roles import Roles


@pytest.mark.parametrize("odd", [None, True, 5, "age", b"age", [1], {1: "other"}, {"age": 5}, object()])
def test_what_is_no_mapping_of_names_is_refused(odd: Any) -> None:
    with pytest.raises(SchemaError, match="table: roles is"):
        given_roles("table", odd)


@pytest.mark.parametrize("odd", [None, True, 5, "age", b"age", [1], {"age"}, object()])
def test_what_is_no_list_of_names_is_refused(odd: Any) -> None:
    with pytest.raises(SchemaError, match="table: ordered is"):
        given_names("table", "ordered", odd)


def test_what_is_one_is_taken() -> None:
    roles = Roles({"age": "quasi-identifier"})
    assert given_roles("table", roles) is roles
    assert given_roles("table", {"age": "quasi-identifier"}) == roles
    assert given_names("table", "ordered", ()) == ()
