"""Private statistics of a column or a table."""
