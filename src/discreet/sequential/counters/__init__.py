"""Counters: sums of a stream, released after every update."""
