"""How a sum is opened of which nobody sees the parts: masks, or shares that are verified."""
