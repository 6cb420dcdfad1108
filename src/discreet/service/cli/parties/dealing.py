"""Shares of a key that is dealt with a federation: where they are written, and what is said of them."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterable, Sequence
from pathlib import Path

from discreet.core.errors import ParameterError
from discreet.crypto.paillier.threshold_key import KeyShare
from discreet.display.plain import plain
from discreet.service.key_file import write_secret_key
from discreet.trust.schemes.sum_scheme import scheme_named

ASKED = "federation"


def share_paths(arguments: Namespace) -> list[Path]:
    """A new file for each party's share, named as its card is; none under schemes without a key."""
    folder, dealer, name = arguments.shares, arguments.dealer, arguments.scheme
    if not scheme_named(name).deals:
        if folder or dealer:
            raise ParameterError(ASKED, f"the scheme {name!r} has no key to deal", "Leave out --dealer and --shares.")
        return []
    if not (folder and dealer):
        obstacle = f"the scheme {name!r} needs a key, and it is not said who deals it or where its shares go"
        remedy = "Give --dealer NAME, who is trusted to keep no copy, and --shares FOLDER; or use SecureSum.rehearsal."
        raise ParameterError(ASKED, obstacle, remedy)
    paths = [Path(folder, f"{Path(card).stem}.share") for card in arguments.party]
    if len(set(paths)) < len(paths):
        raise ParameterError(ASKED, "two parties' cards have the same file name", "Rename one: shares are named so.")
    for path in paths:
        if path.exists():
            raise ParameterError(f"write {path}", "there is a file already", "Choose another folder for --shares.")
    return paths


def write_shares(paths: Sequence[Path], shares: Iterable[KeyShare]) -> None:
    """Write each share to its file, which its owner alone can read: all of them, or none."""
    written: list[Path] = []
    try:
        for path, share in zip(paths, shares, strict=True):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_secret_key(path, share)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink()
        raise


def told(dealer: str, paths: Sequence[Path]) -> str:
    """What becomes of the shares."""
    files = ", ".join(plain(str(path)) for path in paths)
    return (
        f"{plain(dealer)} dealt the key: its primes were written nowhere and end with this process. Hand each party its"
        f" own share over a private line and delete it here, since whoever has enough of them can decrypt: {files}."
    )
