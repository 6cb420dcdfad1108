"""Roles of columns in a file: by themselves, or those of a schema."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import SchemaError
from discreet.query.roles_file import read_roles

SCHEMA = """
[columns.age]
kind = "number"
lower = 0
upper = 90
role = "quasi-identifier"
[columns.ill]
kind = "text"
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "roles.toml"
    path.write_text(text)
    return path


def test_a_file_of_roles_and_a_schema_say_the_same(tmp_path: Path) -> None:
    for text in ('age = "quasi-identifier"', SCHEMA):
        assert read_roles(written(tmp_path, text)).to_dict() == {"age": "quasi-identifier"}
    columns = read_roles(written(tmp_path, 'columns = "sensitive"'))
    assert columns.sensitive == ("columns",)


def test_mistakes_name_the_column(tmp_path: Path) -> None:
    for text in ('age = "quasi"', "age = 3", "[age]\nkind = 1", SCHEMA.replace("quasi-", "")):
        with pytest.raises(SchemaError, match=r"the role of 'age' .* Roles are identifying, quasi-identifier"):
            read_roles(written(tmp_path, text))
    for text in ("", SCHEMA.replace('role = "quasi-identifier"', "")):
        with pytest.raises(SchemaError, match="names no role"):
            read_roles(written(tmp_path, text))
