"""Numbers as text, with no digits beyond the precision of the error bar."""

from __future__ import annotations

import math


def exact(value: float) -> str:
    """A value without error, such as a bound.

    Examples
    --------
    >>> exact(5000.0), exact(0.1 + 0.2), exact(1e300)
    ('5,000', '0.3', '1e+300')
    """
    return f"{value:,.10g}"


def number(value: float, error: float) -> str:
    """A value, cut where its error bar begins.

    Examples
    --------
    >>> number(1234.5678, 0.123), number(1234.5678, 250.0), number(5000.0, 0.0)
    ('1,234.57', '1,235', '5,000')
    """
    if not math.isfinite(value) or error == 0:
        return exact(value)
    decimals = _decimals(error)
    small = 0 < abs(value) < 1e-4 and decimals > 6
    return f"{value:.3g}" if small or abs(value) >= 1e15 else f"{value + 0.0:,.{decimals}f}"


def error_bar(error: float) -> str:
    """Half the width of an error bar, with two digits that count, rounded up.

    Examples
    --------
    >>> error_bar(0.1234), error_bar(249.2), error_bar(0.0)
    ('0.13', '250', '0')
    """
    if not math.isfinite(error) or error == 0:
        return "0" if error == 0 else str(error)
    unit = 10.0 ** (math.floor(math.log10(error)) - 1)
    rounded = math.ceil(error / unit * (1 - 1e-12)) * unit
    return number(rounded, rounded)


def _decimals(size: float) -> int:
    """How many decimals show two digits of a size."""
    return 0 if size >= 10 else min(1 - math.floor(math.log10(size)), 12)
