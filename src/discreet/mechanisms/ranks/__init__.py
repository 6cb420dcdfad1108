"""Quantiles by the exponential mechanism."""
