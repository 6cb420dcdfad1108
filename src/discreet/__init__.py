"""Learn from sensitive data without giving away anybody in it.

A private answer is a bounded sum over records, plus noise, plus post-processing; the trust model decides who may hold
the sum, and the ledger is paid first.

The public names are those of `__init__.pyi`, loaded when they are first used. Models are in `discreet.learners`,
prices in `discreet.accounting`, mechanisms in `discreet.mechanisms`.
"""

from __future__ import annotations

from typing import Any

import lazy_loader

from discreet.core.checks import near_name

__version__ = "0.1.0"

_load, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
MEANT = {
    "audit": "audited",
    "average": "mean",
    "avg": "mean",
    "quantiles": "quantile",
    "percentile": "quantile",
    "describe": "profile",
    "report": "profile",
    "sum": "total",
    "min": "minimum",
    "max": "maximum",
    "std": "standard_deviation",
    "var": "variance",
    "iqr": "interquartile_range",
    "hist": "histogram",
    "crosstab": "contingency",
    "groupby": "grouped",
    "KMeans": "learners.KMeans",
    "epsilon": "accounting.epsilon",
    "delta": "accounting.delta",
}


def __getattr__(name: str) -> Any:
    try:
        return _load(name)
    except AttributeError:
        near = MEANT.get(name) or near_name(name, __all__)
        meant = f"; did you mean discreet.{near}?" if near else f"; it has {', '.join(__all__)}"
        raise AttributeError(f"discreet has no {name!r}{meant}") from None
