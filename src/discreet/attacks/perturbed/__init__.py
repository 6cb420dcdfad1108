"""Values found again in tables that were rotated, projected, made noisy or swapped."""
