"""Noise that is added to every coordinate of a sum."""
