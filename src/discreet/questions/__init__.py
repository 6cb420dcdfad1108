"""Bounded sums by name: what more than one room asks of records."""
