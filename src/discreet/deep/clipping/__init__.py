"""Sums over samples of gradients that are shortened to a common length."""
