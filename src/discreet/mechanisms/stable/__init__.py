"""Releases of stable figures: smooth sensitivity, propose-test-release, sample and aggregate."""
