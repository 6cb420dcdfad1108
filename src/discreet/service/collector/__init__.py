"""A collector of reports over HTTP."""
