"""Records that are made up from noisy counts."""
