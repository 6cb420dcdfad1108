"""Releases of figures of whole graphs."""
