"""Noise on sums of gradients: drawn on devices, exact, or correlated between steps."""
