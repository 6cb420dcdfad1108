"""Sums over one column, or over each of several by itself: counts, totals, moments, cells."""
