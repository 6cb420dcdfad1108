"""Each capability beside its peers, in one run."""
