"""Counts in the leaves and nodes of public trees, and how well they separate classes."""
