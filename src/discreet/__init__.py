"""Learn from sensitive data without giving away anybody in it.

A private answer is a bounded sum over records, plus noise, plus post-processing; the trust model decides who may hold
the sum, and the ledger is paid first.

The names below are loaded when they are first used; everything else is imported from the file that it lives in.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from discreet.accounting.accountant import delta, epsilon
    from discreet.accounting.calibration import calibrate
    from discreet.accounting.sqlite_ledger import SqliteLedger
    from discreet.core.budget import Budget
    from discreet.core.neighbors import Neighbors, Unit
    from discreet.core.schema import Category, Number, Schema, Text
    from discreet.learners.kmeans import KMeans
    from discreet.mechanisms.gaussian import Gaussian
    from discreet.mechanisms.laplace import Laplace
    from discreet.statistics.count import count
    from discreet.statistics.histogram import histogram
    from discreet.statistics.keys import key_counts
    from discreet.statistics.mean import mean
    from discreet.statistics.total import total
    from discreet.statistics.variance import variance
    from discreet.trust.private_data import PrivateData

__version__ = "0.1.0"

_PLACES = {
    "accounting.accountant": ("delta", "epsilon"),
    "accounting.calibration": ("calibrate",),
    "accounting.sqlite_ledger": ("SqliteLedger",),
    "core.budget": ("Budget",),
    "core.neighbors": ("Neighbors", "Unit"),
    "core.schema": ("Category", "Number", "Schema", "Text"),
    "learners.kmeans": ("KMeans",),
    "mechanisms.gaussian": ("Gaussian",),
    "mechanisms.laplace": ("Laplace",),
    "statistics.count": ("count",),
    "statistics.histogram": ("histogram",),
    "statistics.keys": ("key_counts",),
    "statistics.mean": ("mean",),
    "statistics.total": ("total",),
    "statistics.variance": ("variance",),
    "trust.private_data": ("PrivateData",),
}
_PLACE = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "Budget",
    "Category",
    "Gaussian",
    "KMeans",
    "Laplace",
    "Neighbors",
    "Number",
    "PrivateData",
    "Schema",
    "SqliteLedger",
    "Text",
    "Unit",
    "calibrate",
    "count",
    "delta",
    "epsilon",
    "histogram",
    "key_counts",
    "mean",
    "total",
    "variance",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACE:
        raise AttributeError(f"discreet has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"discreet.{_PLACE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
