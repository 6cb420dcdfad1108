"""Trials that try to break a promise."""
