"""What is public about a table: columns, bounds and categories, and the conditions on them. Numpy only."""
