"""From an exact answer to a release with a price."""
