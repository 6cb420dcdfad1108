"""Frequency oracles: how many people have each value of a known domain."""
