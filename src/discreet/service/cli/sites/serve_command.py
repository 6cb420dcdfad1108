"""`discreet serve`: a site that answers until it is told to end; with `--demo`, one on the sample table."""

from __future__ import annotations

import importlib
import importlib.util
import sys
import tempfile
from argparse import Namespace
from functools import partial
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError
from discreet.service.cli.saying import say
from discreet.service.server.new_site import new_site
from discreet.service.server.serving_site import check_installed
from discreet.service.server.serving_site import serve as listen
from discreet.service.server.site import Site

CONSOLE = "discreet.service.console"


def serve(arguments: Namespace) -> int:
    """Serve a site."""
    if arguments.demo == (arguments.file is not None):
        raise ParameterError("discreet serve", "it is not said what is served", "Give site.toml, or --demo.")
    check_installed()
    tell = partial(_listening, arguments)
    if not arguments.demo:
        with Site.open(arguments.file) as site:
            listen(site, tell, pages_of(site))
        return 0
    with tempfile.TemporaryDirectory(prefix="discreet-demo-") as folder:
        new_site(Path(folder), demo=True)
        with Site.open(Path(folder, "site.toml")) as site:
            keys = {name: site.keys.drawn(name) for name in site.file.users}
            for name, key in keys.items():
                sys.stderr.write(f"{name}, {site.file.users[name].role}: {key}\n")
            listen(site, tell, pages_of(site))
    return 0


def _listening(arguments: Namespace, address: str) -> None:
    say(arguments, address, address=address)


def pages_of(site: Site) -> Any:
    """The pages for people, where they are installed."""
    if importlib.util.find_spec(CONSOLE) is None or importlib.util.find_spec("jinja2") is None:
        return ()
    return importlib.import_module(f"{CONSOLE}.console").Console(site).routes()
