"""A party's share of the noise on a sum."""
