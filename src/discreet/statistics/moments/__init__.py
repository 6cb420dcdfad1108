"""Counts, sums, means, variances and covariances."""
