"""Quantiles, extremes and what is made of them."""
