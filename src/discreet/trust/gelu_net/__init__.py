"""Networks on encrypted numbers between two hosts, and updates that a ledger pays for."""
