"""How figures and texts are shown: digits, plain text, parts of pages for notebooks. Numpy only."""
