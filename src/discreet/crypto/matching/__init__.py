"""Templates that are compared while they are encrypted: keys, galleries, queries, scores."""
