"""The pairs of laws that dominate events, and their tables."""
