"""Filters of private signals: noise before, within or after a linear filter."""
