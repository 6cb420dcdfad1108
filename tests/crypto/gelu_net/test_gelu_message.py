"""Facts of a message: those that are due, each of its kind."""

from __future__ import annotations

import pytest

from discreet.crypto.errors import Malformed
from discreet.crypto.gelu_net.gelu_message import GeluBody
from discreet.crypto.messages import framed


def test_facts_that_are_missing_added_or_of_another_kind_are_malformed() -> None:
    fine = GeluBody({"number": 2**31 - 1, "kind": "a"}, b"123")
    assert GeluBody.from_bytes(fine.to_bytes(), number=int, kind=str) == fine
    for facts in (
        {},
        {"number": 1},
        {"number": 1, "kind": 2},
        {"number": True, "kind": "a"},
        {"number": -1, "kind": "a"},
        {"number": 2**31, "kind": "a"},
        {"number": 1.0, "kind": "a"},
        {"number": None, "kind": "a"},
        {"number": 1, "kind": "a", "more": 1},
    ):
        with pytest.raises(Malformed):
            GeluBody.from_bytes(GeluBody(facts).to_bytes(), number=int, kind=str)


def test_heads_that_are_no_table_or_too_long_are_malformed() -> None:
    for head in (
        b"",
        b"[]",
        b"3",
        b"{" * 9000,
        b"[" * 20000,
        b'{"number": 1' + b" " * 40000 + b"}",
        b"\xff",
        b"9" * 9000,
    ):
        with pytest.raises(Malformed):
            GeluBody.from_bytes(framed(head, b""), number=int)
    for data in (b"", b"123", framed(b"{}"), framed(b"{}", b"", b"")):
        with pytest.raises(Malformed):
            GeluBody.from_bytes(data)
