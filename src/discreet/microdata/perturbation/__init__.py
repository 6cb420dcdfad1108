"""Records that are changed at random and given away without a promise: noise, projections, swaps, groups."""
