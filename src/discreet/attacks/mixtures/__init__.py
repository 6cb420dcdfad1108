"""Single records read from the parameters of mixtures, clusters and trees."""
