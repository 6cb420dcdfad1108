"""Scalers and encoders."""
