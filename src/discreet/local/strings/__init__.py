"""Frequent strings that nobody has listed."""
