"""Several statistics of the same records at one price: asked in words, in SQL, or step by step."""
