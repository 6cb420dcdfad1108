"""From columns as they are stored to numbers and texts, each value by itself."""
