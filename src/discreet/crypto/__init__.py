"""Sums that nobody may hold in parts: a prime field, secret shares, masks, and the protocol that adds under them."""
