"""The base of estimators: what they learn from, how they are fitted and paid for."""
