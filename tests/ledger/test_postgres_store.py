"""A store in a database that cannot be reached; the trials of all stores have one that can."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import DiscreetError
from discreet.ledger.postgres_store import PostgresStore

PLAIN = {"PostgresStore": "its account is named by the owner"}
"""Why it prints no texts of others: see `tests/conformance/test_plain_text.py`."""


def test_the_address_with_its_password_is_in_no_text_and_no_error(tmp_path: Path) -> None:
    store = PostgresStore("postgresql://ann:hidden@127.0.0.1:1/none", "wards", tmp_path / "wards.head")
    assert str(store) == "wards"
    with pytest.raises(DiscreetError) as refusal, store.reading():
        pass
    for text in (str(store), repr(store), str(refusal.value), repr(refusal.value)):
        assert "hidden" not in text
