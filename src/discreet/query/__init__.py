"""Plans of bounded sums: schemas and reports."""
