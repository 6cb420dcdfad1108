"""Releases of models that are fitted to all records at once."""
