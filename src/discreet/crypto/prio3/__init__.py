"""Prio3: sums of what devices report in secret shares, with a proof that each report is in range."""
