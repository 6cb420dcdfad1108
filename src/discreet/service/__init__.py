"""The command line, a server of data sets with its client, and a collector of reports over HTTP."""
