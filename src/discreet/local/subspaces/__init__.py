"""Principal subspaces from private reports."""
