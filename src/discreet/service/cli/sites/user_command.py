"""`discreet user`: who may use a site. Keys are shown once, and kept as hashes."""

from __future__ import annotations

import time
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from discreet.core.errors import ParameterError
from discreet.ledger.own_file import replace_own
from discreet.service.cli.saying import WayOut, say
from discreet.service.server.api_keys import ApiKeys
from discreet.service.server.site import STORE
from discreet.service.server.site_file import SiteFile, check_name, read_site
from discreet.service.server.site_store import SiteStore

DAY = 86400.0


def add(arguments: Namespace) -> int:
    """Add somebody to the file, and draw a key."""
    file, name = read_site(arguments.site), arguments.name
    check_name("a user", name, f"site {arguments.site}")
    if name in file.users:
        raise ParameterError(f"add {name}", "there is such a user already", f"Run: discreet user key {name}")
    data = ", ".join(f'"{one}"' for one in arguments.data)
    entry = f'\n[users.{_quoted(name)}]\nrole = "{_plain(arguments.role)}"\n' + (f"data = [{data}]\n" if data else "")
    before = file.path.read_bytes()
    replace_own(file.path, before.rstrip() + b"\n" + entry.encode())
    try:
        read_site(arguments.site)
    except BaseException:
        replace_own(file.path, before)
        raise
    return _keyed(arguments, file)


def key(arguments: Namespace) -> int:
    """Draw another key for somebody."""
    return _keyed(arguments, _known(arguments))


def revoke(arguments: Namespace) -> int:
    """End all keys and sessions of somebody."""
    file = _known(arguments)
    with _keys(file) as keys:
        ended = keys.revoke(arguments.name)
    say(arguments, f"Ended {ended} keys of {arguments.name}.", user=arguments.name, ended=ended)
    return 0


def _keyed(arguments: Namespace, file: SiteFile) -> int:
    until = None if arguments.days is None else time.time() + DAY * arguments.days
    with _keys(file) as keys:
        drawn = keys.drawn(arguments.name, until)
    text = f"The key of {arguments.name}, shown here and never again:\n{drawn}"
    lost = WayOut("A key was drawn, and nobody has seen it.", "Draw another: discreet user key")
    say(arguments, text, lost, user=arguments.name, key=drawn)
    return 0


@contextmanager
def _keys(file: SiteFile) -> Iterator[ApiKeys]:
    store = SiteStore(Path(file.beside(STORE)))
    try:
        yield ApiKeys(store)
    finally:
        store.close()


def _known(arguments: Namespace) -> SiteFile:
    file = read_site(arguments.site)
    if arguments.name not in file.users:
        known = f"There are {', '.join(file.users) or 'none'}."
        raise ParameterError(f"user {arguments.name!r:.60}", "there is no such user", known)
    return file


def _plain(text: str) -> str:
    """A word that needs no quoting; others are refused when the file is read."""
    return "".join(letter for letter in text if letter.isalnum())


def _quoted(name: str) -> str:
    return f'"{name}"' if "." in name else name
