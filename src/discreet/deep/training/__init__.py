"""Training runs: what they ask of the data, the records, the steps and what is released."""
