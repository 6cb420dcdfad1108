"""Sums over the edges of a graph, and statistics of a whole one."""
