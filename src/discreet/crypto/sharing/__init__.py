"""Secrets in shares, of which a few say nothing."""
