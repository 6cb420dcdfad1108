"""Frequent strings."""
