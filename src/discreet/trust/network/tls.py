"""Mutual TLS among the members of a federation: whoever is on it can talk, nobody else can."""

from __future__ import annotations

import contextlib
import os
import secrets
import ssl
import tempfile
from collections.abc import Iterator
from typing import Literal

from discreet.crypto.certificate import to_pem
from discreet.crypto.errors import UNOPENED, UnknownParty
from discreet.crypto.identity import Identity
from discreet.trust.federation import Federation


def context(end: Literal["caller", "called"], identity: Identity, federation: Federation) -> ssl.SSLContext:
    """What one end of a line uses: TLS 1.3, its own certificate, and those of all members as the only ones it trusts.

    No authority and no host name is asked: a member is whoever holds the key that the federation lists.
    """
    made = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT if end == "caller" else ssl.PROTOCOL_TLS_SERVER)
    made.check_hostname = False
    made.verify_mode = ssl.CERT_REQUIRED
    made.minimum_version = ssl.TLSVersion.TLSv1_3
    if end == "called":
        made.num_tickets = 0  # nobody comes back without showing a certificate
    cards = (federation.server, *federation.parties)
    made.load_verify_locations(cadata="\n".join(card.certificate.decode() for card in cards))
    _show(made, identity)
    return made


def _show(made: ssl.SSLContext, identity: Identity) -> None:
    """Load the own key, which the library takes from a file only, under a password that is nowhere written."""
    password = secrets.token_hex(32)
    with _file(to_pem(identity, password.encode())) as path:
        made.load_cert_chain(path, password=password)


@contextlib.contextmanager
def _file(data: bytes) -> Iterator[str]:
    """Where these bytes can be read while the block lasts: in memory, or in a folder of the owner's alone."""
    if os.path.isdir("/proc/self/fd") and hasattr(os, "memfd_create"):
        with open(os.memfd_create("discreet"), "wb") as file:
            file.write(data)
            file.flush()
            yield f"/proc/self/fd/{file.fileno()}"
    else:
        with tempfile.TemporaryDirectory(prefix="discreet-") as folder:
            path = os.path.join(folder, "key")
            with open(path, "xb") as file:
                file.write(data)
            yield path


def peer(shown: bytes | None, federation: Federation) -> str:
    """Which member showed this certificate."""
    for card in (federation.server, *federation.parties):
        if card.binary == shown:
            return card.name
    raise UnknownParty("call", "whoever calls is not in the federation", "Agree on one federation.", UNOPENED)
