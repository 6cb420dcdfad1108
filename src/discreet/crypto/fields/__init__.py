"""Prime fields."""
