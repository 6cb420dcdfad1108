"""Axes to draw a release on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.core.errors import MissingExtra

if TYPE_CHECKING:
    from matplotlib.axes import Axes

KEPT = "The release is as it was."


def drawn_on(what: str, axes: Axes | None = None) -> Axes:
    """The axes that are given, or new ones.

    Parameters
    ----------
    what : str
        What is drawn, for an error.
    axes : matplotlib Axes, optional
        Where to draw.

    Raises
    ------
    MissingExtra
        matplotlib is not installed.

    Examples
    --------
    >>> drawn_on("a line").get_title()
    ''
    """
    if axes is not None:
        return axes
    try:
        from matplotlib.figure import Figure
    except ImportError as why:
        raise MissingExtra(f"draw {what}", "matplotlib is not installed", "Install discreet[plots].", KEPT) from why
    return Figure(layout="constrained").add_subplot()
