"""The nouns: bounds, grids, secret answers, events, budgets. Numpy only."""
