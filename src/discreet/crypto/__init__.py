"""Sums of which nobody sees the parts: a prime field, secret shares, masks, and the protocol that adds under them."""
