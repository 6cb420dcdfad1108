"""Small TOML files: what cannot be read is refused, with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import UNTOUCHED, SchemaError
from discreet.query.toml_file import MOST, read_toml


def test_what_is_no_toml_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    wrong = (b"a = ", b"\xff\xfe", b"a = 1\na = 2", b"#" * (MOST + 1), b"a = " + b"[" * 10_000)
    for data in wrong:
        path.write_bytes(data)
        with pytest.raises(SchemaError) as refusal:
            read_toml("roles f", path)
        assert UNTOUCHED in str(refusal.value)
    for absent in (tmp_path / "absent", tmp_path):
        with pytest.raises(SchemaError, match="cannot be read"):
            read_toml("roles f", absent)


def test_a_mark_of_byte_order_is_no_letter(tmp_path: Path) -> None:
    path = tmp_path / "f.toml"
    path.write_bytes(b"\xef\xbb\xbfage = 5")
    assert read_toml("levels", path) == {"age": 5}
