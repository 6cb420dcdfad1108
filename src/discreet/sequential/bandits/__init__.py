"""Bandits: agents that choose arms, curators that answer for users, environments to try both in."""
