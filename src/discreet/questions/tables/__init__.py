"""Counts in the cells of tables: domains, marginals, workloads and how they are measured."""
