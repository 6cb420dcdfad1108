"""Encryption that nobody outside this project has reviewed: for experiments alone."""
