"""A data set that a command asks elsewhere: the key is in the environment, where no list of processes shows it."""

from __future__ import annotations

import os
from argparse import Namespace
from contextlib import ExitStack

from discreet.core.errors import ParameterError
from discreet.service.client.connect import connect
from discreet.trust.private_data import PrivateData

VARIABLE = "DISCREET_KEY"
APART = ("schema", "ledger", "analyst")


def data_elsewhere(arguments: Namespace, open_files: ExitStack) -> PrivateData:
    """The data set of a site that a command names."""
    for name in APART:
        if getattr(arguments, name, None) is not None:
            raise ParameterError(f"--{name}", "a site has its own", f"Leave out --{name}, or --site.")
    key = os.environ.get(VARIABLE)
    if key is None:
        raise ParameterError(
            "--site", f"there is no key in {VARIABLE}", f"Set {VARIABLE} to the key that you were given."
        )
    site = open_files.enter_context(connect(arguments.site, key=key, trusted=arguments.trusted))
    return site[arguments.file]
