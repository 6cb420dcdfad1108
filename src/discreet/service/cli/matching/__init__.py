"""Commands of encrypted matching."""
