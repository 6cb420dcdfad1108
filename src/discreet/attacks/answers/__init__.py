"""Secrets of single records from answers about many."""
