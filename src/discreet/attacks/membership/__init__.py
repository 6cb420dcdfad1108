"""Whose records were in: attacks on models, synthetic tables and published means."""
