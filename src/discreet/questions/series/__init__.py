"""Sums over time: frequencies, and trees of products."""
