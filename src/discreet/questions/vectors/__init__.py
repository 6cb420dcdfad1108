"""Sums over records as vectors: centers, products, clusters, directions."""
