"""Records found again: in sparse ratings, beside a second table, in synthetic tables."""
