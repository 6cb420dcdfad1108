"""Choices among options, keys and categories."""
