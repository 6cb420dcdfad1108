"""Clusters: k-means and mixtures of Gaussian laws."""
