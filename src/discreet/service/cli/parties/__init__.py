"""Commands of parties, devices and aggregators."""
