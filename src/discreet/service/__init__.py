"""The command line, and services over HTTP."""
