"""Fields of bytes as one string of bytes, in one way only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from discreet.crypto.errors import UNOPENED, Malformed

LENGTH = 8  # bytes of the length of a field
AGAIN = "Ask for it again."


def framed(*fields: bytes) -> bytes:
    """Each field after its length: different fields never give the same bytes.

    Examples
    --------
    >>> framed(b"ab", b"c") == framed(b"a", b"bc")
    False
    """
    return b"".join(part for one in fields for part in (len(one).to_bytes(LENGTH, "big"), one))


def unframed(data: bytes) -> list[bytes]:
    """The fields that `framed` put together.

    Examples
    --------
    >>> unframed(framed(b"ab", b"", b"c"))
    [b'ab', b'', b'c']
    """
    fields, place = [], 0
    while place < len(data):
        start = place + LENGTH
        place = start + int.from_bytes(data[start - LENGTH : start], "big")
        if start > len(data) or place > len(data):
            raise Malformed("message", "it ends in the middle of a field", AGAIN, UNOPENED)
        fields.append(data[start:place])
    return fields


def split(data: bytes, count: int) -> list[bytes]:
    """The fields, which must be of this number."""
    fields = unframed(data)
    if len(fields) != count:
        raise Malformed("message", f"it has {len(fields)} fields and needs {count}", AGAIN, UNOPENED)
    return fields


def listed(names: Iterable[str]) -> bytes:
    """Names as fields."""
    return framed(*(name.encode() for name in names))


def unlisted(data: bytes) -> list[str]:
    """Names from fields; each may come once."""
    names = [text(field) for field in unframed(data)]
    if len(set(names)) < len(names):
        raise Malformed("message", "a name comes twice in it", AGAIN, UNOPENED)
    return names


def labelled(fields: Mapping[str, bytes]) -> bytes:
    """A field for each name."""
    return framed(listed(fields), *fields.values())


def unlabelled(data: bytes) -> dict[str, bytes]:
    """The field of each name.

    Examples
    --------
    >>> unlabelled(labelled({"ann": b"1", "bob": b"2"}))
    {'ann': b'1', 'bob': b'2'}
    """
    fields = unframed(data)
    names = unlisted(fields.pop(0)) if fields else ["nobody"]
    if len(names) != len(fields):
        raise Malformed("message", f"it has {len(names)} names for {len(fields)} fields", AGAIN, UNOPENED)
    return dict(zip(names, fields, strict=True))


def text(field: bytes) -> str:
    """A field that holds a name."""
    try:
        return field.decode()
    except UnicodeDecodeError as why:
        raise Malformed("message", "a name in it is not UTF-8", AGAIN, UNOPENED) from why
