"""Privacy curves: epsilon against delta, drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from discreet.accounting.accountant import epsilon
from discreet.core.errors import MissingExtra
from discreet.core.events import Event

if TYPE_CHECKING:
    from matplotlib.axes import Axes

DELTAS = tuple(np.geomspace(1e-1, 1e-12, 34).tolist())


def plot_curve(events: Event | Mapping[str, Event], deltas: Sequence[float] = DELTAS, ax: Axes | None = None) -> Axes:
    """Draw how epsilon grows as delta shrinks, one curve per event.

    Parameters
    ----------
    events : Event, or mapping of names to events
        What to draw; names go to the legend.
    deltas : sequence of float
        Where to compute epsilon; delta is drawn on a logarithmic scale.
    ax : matplotlib Axes, optional
        Where to draw; new ones by default.

    Returns
    -------
    matplotlib Axes
        The axes with the curves.

    Raises
    ------
    MissingExtra
        matplotlib is not installed.

    Examples
    --------
    >>> from discreet.core.events import GaussianLoss
    >>> plot_curve({"a release": GaussianLoss(4.0)}, [1e-9, 1e-6]).get_xlabel()
    'epsilon'
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as why:
        raise MissingExtra("draw a privacy curve", "matplotlib is not installed", "Install discreet[plots].") from why
    ax = ax if ax is not None else Figure(layout="constrained").add_subplot()
    named = events if isinstance(events, Mapping) else {"": events}
    for name, event in named.items():
        ax.semilogy([epsilon(event, delta) for delta in deltas], list(deltas), label=name or None)
    ax.set_xlabel("epsilon")
    ax.set_ylabel("delta")
    if any(named):
        ax.legend()
    return ax
