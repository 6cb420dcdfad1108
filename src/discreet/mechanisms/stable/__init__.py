"""Releases of what one record hardly moves: smooth sensitivity, propose-test-release, blocks."""
