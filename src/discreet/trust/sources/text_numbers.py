"""Numbers that are written as text, a whole Arrow column at once: the same ones that Python's `float` reads."""

from __future__ import annotations

from typing import Any

from discreet.trust.sources.arrow_column import arrow
from discreet.trust.sources.decoding import BLANKS

_DIGITS = "[0-9](?:_?[0-9])*"
NUMBER = rf"^[+-]?(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?$"


def text_numbers(column: Any) -> Any:
    r"""What each of some bytes says as a number, null where it is none.

    Every value is matched before it is cast, so that none can make the cast fail.

    Examples
    --------
    >>> import pyarrow
    >>> text_numbers(pyarrow.array([b" +1_0.5e1 ", b"1e999", b"+-1", b"\xff", None])).to_pylist()
    [105.0, inf, None, None, None]
    """
    pa = arrow()
    compute, text = pa.compute, pa.large_string()
    trimmed = compute.ascii_trim(column.cast(pa.large_binary()).view(text), BLANKS)
    is_number = compute.match_substring_regex(trimmed.view(pa.large_binary()), NUMBER)
    digits = compute.ascii_ltrim(compute.if_else(is_number, trimmed, pa.scalar(None, text)), "+")
    return compute.replace_substring(digits, "_", "").cast(pa.float64())
