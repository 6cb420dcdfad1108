"""What changes records and gives them away: without a promise."""
