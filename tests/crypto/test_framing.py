from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.crypto.errors import Malformed
from discreet.crypto.framing import framed, labelled, listed, split, text, unframed, unlabelled, unlisted

fields = st.lists(st.binary(max_size=20), max_size=6)


@given(fields)
def test_fields_come_back(some: list[bytes]) -> None:
    assert unframed(framed(*some)) == some


@given(fields, fields)
def test_different_fields_give_different_bytes(some: list[bytes], others: list[bytes]) -> None:
    assert (framed(*some) == framed(*others)) == (some == others)


@given(st.binary(max_size=60))
def test_bytes_are_read_in_one_way_or_refused(data: bytes) -> None:
    with contextlib.suppress(Malformed):
        assert framed(*unframed(data)) == data


@given(st.lists(st.binary(max_size=9), min_size=1, max_size=3), st.data())
def test_a_cut_is_noticed(some: list[bytes], data: st.DataObject) -> None:
    """Unless it falls between two fields, where the number of fields tells."""
    whole = framed(*some)
    cut = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(Malformed):
        split(cut, len(some))


@given(st.dictionaries(st.text(max_size=5), st.binary(max_size=9), max_size=5))
def test_labels_come_back(some: dict[str, bytes]) -> None:
    assert unlabelled(labelled(some)) == some
    assert unlisted(listed(some)) == list(some)


def test_labels_and_fields_must_pair_up() -> None:
    for data in (b"", framed(listed(["a", "b"]), b"1"), framed(listed(["a"]), b"1", b"2"), framed(listed([]), b"1")):
        with pytest.raises(Malformed, match="names for"):
            unlabelled(data)


def test_a_name_does_not_come_twice() -> None:
    with pytest.raises(Malformed, match="twice"):
        unlisted(listed(["a", "b", "a"]))
    with pytest.raises(Malformed, match="twice"):
        unlabelled(framed(listed(["a", "a"]), b"1", b"2"))


def test_names_are_text() -> None:
    assert text("é".encode()) == "é"
    with pytest.raises(Malformed, match="UTF-8"):
        text(b"\xff")
