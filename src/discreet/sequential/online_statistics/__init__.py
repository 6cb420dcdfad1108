"""Online statistics: means, variances and quantiles of a stream, released after every update."""
