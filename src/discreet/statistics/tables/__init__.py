"""Counts in cells: histograms, contingency tables, marginals, workloads of counting queries."""
