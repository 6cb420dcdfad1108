"""Simulators of bandits: invented users, and the regret of agents that serve them. Nothing here is private."""
