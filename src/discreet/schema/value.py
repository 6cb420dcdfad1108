"""One form for each value, whatever stores it: it depends on nothing but the value.

A text is what stands between outer blanks. Other values have one text each: a boolean is `true` or `false`, a whole
number its digits (an integer, a float or a decimal alike: `1.0` is `1`), any other number its shortest digits without
exponent or trailing zeros, a date `2020-12-31`, an instant `2020-12-31T23:59:59.000000` in UTC. A text is read as a
number where it is written in digits, with or without a point and an exponent, and as a boolean where it is one of
`TRUTHS` in any case: then it is 1 or 0 where a number is wanted. (These are the words that readers which guess types
take for numbers and booleans: what is guessed must make no difference.)

Missing are: nothing, nan, infinities, empty text, bytes that are no UTF-8, what is longer than `LONGEST`, and values of
any other kind, such as lists.
"""

from __future__ import annotations

import datetime
import re
import uuid
from decimal import Decimal
from typing import Any

import numpy as np

LONGEST = 2**12
"""The most bytes of a value's text in UTF-8, outer blanks included; what is longer is missing."""

BLANKS = " \t\n\v\f\r"
NUMBER = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
"""The numbers among texts: what `float` reads, except `1_000`, other alphabets and what is not finite."""

PLAIN = r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)"
"""The numbers among texts that are written without an exponent."""

_PLAIN = re.compile(PLAIN, re.ASCII)
ENDS = "0123456789. "  # of texts that are finite numbers
TRUTHS = {"true": "true", "t": "true", "yes": "true", "false": "false", "f": "false", "no": "false"}
LONGEST_WORD = max(map(len, TRUTHS))
_REAL = (bool, int, float, np.bool_, np.integer, np.floating, Decimal)


def text_of(value: Any) -> str | None:
    """The text of a value, None where it is missing.

    Examples
    --------
    >>> [text_of(value) for value in (" 1.0", 1.0, True, Decimal("1.50"), 1e-5, None)]
    ['1.0', '1', 'true', '1.5', '0.00001', None]
    """
    if isinstance(value, bytes):
        value = _utf8(value)
    elif not isinstance(value, str):
        try:
            value = _written(value)
        except Exception:  # too long, before the first year, or with methods of its own that fail
            return None
    if value is None or len(value) > LONGEST or not (value.isascii() or _fits(value)):
        return None
    return value.strip(BLANKS) or None


def number_of(value: Any) -> float:
    """The number of a value, nan where it is none.

    Examples
    --------
    >>> [number_of(value) for value in (" 1e3", "TRUE", Decimal("1.50"), "1_000", [1])]
    [1000.0, 1.0, 1.5, nan, nan]
    """
    if isinstance(value, str | bytes):
        text = text_of(value)
        return float("nan") if text is None else _read(text)
    try:
        return float("nan") if not isinstance(value, _REAL) or _is_no_number(value) else float(value)
    except Exception:  # too large, or with methods of its own that fail
        return float("nan")


def name_of(text: str) -> str:
    """What a text names, where it identifies somebody: a number in plain digits is that number, all else is itself.

    So the same people are found whether digits are read as text or as numbers, which forget zeros. An exponent is no
    plain digits: `1e3` may be a name.

    Examples
    --------
    >>> [name_of(text) for text in ("7", "007", "7.0", "+7", "-.50", "1e3", "7a")]
    ['7', '7', '7', '7', '-0.5', '1e3', '7a']
    """
    if not _PLAIN.fullmatch(text):
        return text
    whole, _, rest = text.lstrip("+-").partition(".")
    whole, rest = whole.lstrip("0") or "0", rest.rstrip("0")
    found = f"{whole}.{rest}" if rest else whole
    return f"-{found}" if text[0] == "-" and found != "0" else found


def form_of(text: str) -> float | str:
    """What a text means in a list of values: a finite number, `true`, `false` or itself.

    Examples
    --------
    >>> [form_of(text) for text in ("01", "1.0", "Yes", "x1")]
    [1.0, 1.0, 'true', 'x1']
    """
    if len(text) > LONGEST_WORD and text[-1] not in ENDS:
        return text
    number = _digits(text)
    return number + 0.0 if abs(number) < np.inf else TRUTHS.get(text.lower(), text)


def _read(text: str) -> float:
    word = TRUTHS.get(text.lower())
    return _digits(text) if word is None else float(word == "true")


def _digits(text: str) -> float:
    if text[-1:] not in ENDS or not text.isascii() or not text.isprintable() or "_" in text:
        return float("nan")
    try:
        return float(text)
    except ValueError:
        return float("nan")


def _utf8(value: bytes) -> str | None:
    try:
        return value.decode() if len(value) <= LONGEST else None
    except UnicodeDecodeError:
        return None


def _fits(value: str) -> bool:
    try:
        return len(value.encode()) <= LONGEST
    except UnicodeEncodeError:
        return False  # half a surrogate pair


def _written(value: Any) -> str | None:
    match value:
        case bool() | np.bool_():
            return "true" if value else "false"
        case np.timedelta64():  # numpy takes it for an integer
            return None
        case int() | np.integer():
            return str(int(value)) if int(value).bit_length() < 4 * LONGEST else None
        case float() | np.floating():
            return _float(float(value) if isinstance(value, np.longdouble) else value)
        case Decimal():
            return _decimal(value) if value.is_finite() and not _is_long(value) else None
        case datetime.datetime():
            if value != value:  # pandas.NaT
                return None
            instant = value.replace(tzinfo=None) - (value.utcoffset() or datetime.timedelta())
            return instant.isoformat(timespec="microseconds")
        case np.datetime64():
            return None if np.isnat(value) else str(instants(np.array([value]))[0])
        case datetime.date() | datetime.time() | uuid.UUID():
            return str(value)
        case _:
            return None


def instants(raw: Any) -> Any:
    """Days as days, other times in microseconds, as texts."""
    return (raw if raw.dtype == np.dtype("M8[D]") else raw.astype("M8[us]")).astype(str)


def _float(value: Any) -> str | None:
    if not abs(value) < np.inf:
        return None
    if value == (whole := int(value)):
        return str(whole)
    text = str(value)
    return np.format_float_positional(value, trim="-") if "e" in text else text


def _is_no_number(value: Any) -> bool:
    """Whether a value of a numeric type is none: a duration, which numpy takes for an integer, or a long decimal."""
    return isinstance(value, np.timedelta64) or (isinstance(value, Decimal) and _is_long(value))


def _is_long(value: Decimal) -> bool:
    """Whether a decimal has too many digits, by its length in bytes alone: a byte holds more than two digits."""
    return value.__sizeof__() > LONGEST


def _decimal(value: Decimal) -> str | None:
    if not value:
        return "0"
    if abs(value.adjusted()) > LONGEST:
        return None
    text = format(value, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text
