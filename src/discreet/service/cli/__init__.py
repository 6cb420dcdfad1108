"""The command `discreet` and its subcommands."""
