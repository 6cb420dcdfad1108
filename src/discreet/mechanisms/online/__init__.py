"""Many queries, one after another or all at once, about one data set."""
