"""Programs that a benchmark starts: others' ways to the same end, or one way by itself, to see its memory."""
