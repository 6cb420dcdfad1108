"""Sums of encrypted vectors, which enough of the parties open together."""
