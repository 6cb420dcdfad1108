"""Parties on other hosts: mutual TLS, frames of signed messages, and the two ends of a line."""
