"""Several attributes."""
