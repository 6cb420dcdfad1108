"""How much a released table resembles the data: exactly, which is not private, or for a price."""
