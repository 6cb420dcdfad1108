"""Untrusted functions: each block of records in a process of its own, which can compute and do nothing else."""
