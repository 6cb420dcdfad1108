"""From events to epsilon and delta, and the ledger that is paid first."""
