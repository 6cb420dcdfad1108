"""Devices that report in secret shares, and aggregators of whom one is honest: Prio3 with noise and accounts."""
