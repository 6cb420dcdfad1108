"""Several attributes of one person, within one budget."""
