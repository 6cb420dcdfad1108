"""Commands that give a table away."""
