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
    from discreet.mechanisms.additive.gaussian import Gaussian
    from discreet.mechanisms.additive.laplace import Laplace
    from discreet.mechanisms.vectors.sphere_report import SphereReport
    from discreet.query.federation_file import read_federation
    from discreet.statistics.curves.density import density
    from discreet.statistics.curves.distribution import distribution
    from discreet.statistics.curves.kernel_density import kernel_density
    from discreet.statistics.fits.gross_error import gross_error_sensitivity
    from discreet.statistics.fits.m_estimate import m_estimate, m_estimate_of
    from discreet.statistics.fits.perturbed_histogram import perturbed_histogram
    from discreet.statistics.fits.robust_regression import robust_regression
    from discreet.statistics.fits.sample_and_aggregate import sample_and_aggregate
    from discreet.statistics.hypotheses.goodness_of_fit import goodness_of_fit
    from discreet.statistics.hypotheses.independence import independence
    from discreet.statistics.hypotheses.t_test import t_test, two_sample_t_test
    from discreet.statistics.moments.count import count
    from discreet.statistics.moments.covariance import correlation, covariance
    from discreet.statistics.moments.grouped import grouped
    from discreet.statistics.moments.mean import mean
    from discreet.statistics.moments.second_moments import second_moments
    from discreet.statistics.moments.standard_deviation import standard_deviation
    from discreet.statistics.moments.total import total
    from discreet.statistics.moments.trimmed import trimmed_mean, winsorized_mean
    from discreet.statistics.moments.variance import variance
    from discreet.statistics.ranks.bounds import bounds
    from discreet.statistics.ranks.extremes import maximum, minimum, value_range
    from discreet.statistics.ranks.interquartile_range import interquartile_range
    from discreet.statistics.ranks.quantile import median, quantile
    from discreet.statistics.ranks.stable_interquartile_range import stable_interquartile_range
    from discreet.statistics.tables.contingency import contingency
    from discreet.statistics.tables.conversation import Conversation
    from discreet.statistics.tables.cube import cube
    from discreet.statistics.tables.frequent_cells import frequent_cells
    from discreet.statistics.tables.histogram import histogram
    from discreet.statistics.tables.key_counts import key_counts
    from discreet.statistics.tables.marginals import marginals
    from discreet.statistics.tables.workload import workload
    from discreet.trust.federation import Federation
    from discreet.trust.local import Local
    from discreet.trust.party import Party
    from discreet.trust.private_data import PrivateData
    from discreet.trust.secure_sum import SecureSum

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
    "mechanisms.sphere_report": ("SphereReport",),
    "query.federation_file": ("read_federation",),
    "statistics.bounds": ("bounds",),
    "statistics.conversation": ("Conversation",),
    "statistics.count": ("count",),
    "statistics.covariance": ("correlation", "covariance"),
    "statistics.cube": ("cube",),
    "statistics.density": ("density",),
    "statistics.distribution": ("distribution",),
    "statistics.extremes": ("maximum", "minimum", "value_range"),
    "statistics.frequent_cells": ("frequent_cells",),
    "statistics.goodness_of_fit": ("goodness_of_fit",),
    "statistics.gross_error": ("gross_error_sensitivity",),
    "statistics.grouped": ("grouped",),
    "statistics.histogram": ("histogram",),
    "statistics.independence": ("independence",),
    "statistics.kernel_density": ("kernel_density",),
    "statistics.keys": ("key_counts",),
    "statistics.m_estimate": ("m_estimate", "m_estimate_of"),
    "statistics.marginals": ("marginals",),
    "statistics.mean": ("mean",),
    "statistics.perturbed_histogram": ("perturbed_histogram",),
    "statistics.quantile": ("median", "quantile"),
    "statistics.robust_regression": ("robust_regression",),
    "statistics.sample_and_aggregate": ("sample_and_aggregate",),
    "statistics.second_moments": ("second_moments",),
    "statistics.spread": ("interquartile_range",),
    "statistics.stable_spread": ("stable_interquartile_range",),
    "statistics.standard_deviation": ("standard_deviation",),
    "statistics.t_test": ("t_test", "two_sample_t_test"),
    "statistics.table": ("contingency",),
    "statistics.total": ("total",),
    "statistics.trimmed": ("trimmed_mean", "winsorized_mean"),
    "statistics.variance": ("variance",),
    "statistics.workload": ("workload",),
    "trust.federation": ("Federation",),
    "trust.local": ("Local",),
    "trust.party": ("Party",),
    "trust.private_data": ("PrivateData",),
    "trust.secure_sum": ("SecureSum",),
}
_PLACE = {name: place for place, names in _PLACES.items() for name in names}

__all__ = [
    "Budget",
    "Category",
    "Conversation",
    "Federation",
    "Gaussian",
    "KMeans",
    "Laplace",
    "Local",
    "Neighbors",
    "Number",
    "Party",
    "PrivateData",
    "Schema",
    "SecureSum",
    "SphereReport",
    "SqliteLedger",
    "Text",
    "Unit",
    "bounds",
    "calibrate",
    "contingency",
    "correlation",
    "count",
    "covariance",
    "cube",
    "delta",
    "density",
    "distribution",
    "epsilon",
    "frequent_cells",
    "goodness_of_fit",
    "gross_error_sensitivity",
    "grouped",
    "histogram",
    "independence",
    "interquartile_range",
    "kernel_density",
    "key_counts",
    "m_estimate",
    "m_estimate_of",
    "marginals",
    "maximum",
    "mean",
    "median",
    "minimum",
    "perturbed_histogram",
    "quantile",
    "read_federation",
    "robust_regression",
    "sample_and_aggregate",
    "second_moments",
    "stable_interquartile_range",
    "standard_deviation",
    "t_test",
    "total",
    "trimmed_mean",
    "two_sample_t_test",
    "value_range",
    "variance",
    "winsorized_mean",
    "workload",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACE:
        raise AttributeError(f"discreet has no {name!r}; it has {', '.join(__all__)}")
    return getattr(import_module(f"discreet.{_PLACE[name]}"), name)


def __dir__() -> list[str]:
    return __all__
