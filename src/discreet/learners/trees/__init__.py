"""Trees, forests of them, boosted stumps and additive models."""
