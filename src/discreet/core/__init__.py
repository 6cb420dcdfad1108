"""The nouns: questions, secret answers, events, budgets. Numpy only."""
