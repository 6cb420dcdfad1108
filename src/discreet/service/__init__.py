"""The command line, and a collector of reports over HTTP."""
