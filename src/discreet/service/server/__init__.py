"""A site: data sets that analysts ask over a line, with users, prices, approvals and one ledger for each data set."""
