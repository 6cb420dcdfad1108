"""Sums of gradients and of the coefficients of losses."""
