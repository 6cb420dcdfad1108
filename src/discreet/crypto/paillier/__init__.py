"""Numbers that can be added, and multiplied by known ones, while they are encrypted (Paillier 1999)."""
