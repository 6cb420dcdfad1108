"""Means of numbers and vectors from private reports, and models fitted by them."""
