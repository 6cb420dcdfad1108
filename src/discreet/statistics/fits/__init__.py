"""M-estimates, robust regression, and any function by sample and aggregate."""
