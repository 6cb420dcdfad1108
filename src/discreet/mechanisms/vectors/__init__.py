"""Releases of whole vectors and tables."""
