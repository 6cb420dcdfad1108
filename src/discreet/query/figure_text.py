"""A figure of a report in words: the value, and how far it may be off."""

from __future__ import annotations

from discreet.display.digits import error_bar, number
from discreet.releases.estimate import Estimate


def value_text(figure: Estimate) -> str:
    """The value, cut where its error bar begins; a date or a time as such."""
    return number(figure.value, figure.half_width) if figure.kind is None else figure.kind.shown(figure.value)


def error_text(figure: Estimate) -> str:
    """Half the width of its interval; of a date in days."""
    error = error_bar(figure.half_width)
    return error if figure.kind is None else f"{error} {figure.kind.unit}"
