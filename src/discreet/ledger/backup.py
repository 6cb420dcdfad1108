"""Copies of a ledger's file: made while it is in use, and put back only where nothing newer is known."""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from discreet.core.errors import LedgerBroken, LedgerError
from discreet.ledger.anchor import Anchor
from discreet.ledger.book import Book, Verified
from discreet.ledger.ledger_file import LedgerFile


def back_up(path: str | os.PathLike[str], to: str | os.PathLike[str]) -> str:
    """Copy a ledger, with its head and what is kept beside it; the head of the copy, to be kept elsewhere.

    Others may go on charging it: the copy has what was there at one moment.

    Parameters
    ----------
    path : path
        The ledger's file.
    to : path
        Where no file is yet.
    """
    source, copy = LedgerFile(path), LedgerFile(to)
    with closing(source):
        return _copied(source, copy)


def restore(path: str | os.PathLike[str], to: str | os.PathLike[str], heads: Iterable[str] = ()) -> Verified:
    """Put a backup in the place of a ledger that was lost.

    Parameters
    ----------
    path : path
        The backup.
    to : path
        Where the ledger was: there must be no file any more. If its `.head` is still there, the backup must be as new.
    heads : iterable of str
        Heads kept elsewhere, as on receipts; each must occur in the backup.

    Raises
    ------
    LedgerBroken
        The backup is damaged, or lacks entries that are known to have been made since: charges in them would be
        forgotten, and the same budget spent twice.
    """
    source, place = LedgerFile(path), LedgerFile(to)
    with closing(source):
        known = list(heads)
        if place.anchor.path.exists():
            known.append(place.anchor.read().head)
        found = Book(source).verify()
        with source.reading() as stored:
            missing = [head for head in known if not stored.holds(head)]
        if missing:
            raise LedgerBroken(
                f"restore {place.path}",
                f"the backup ends at entry {found.entries - 1} and lacks the head {missing[0][:12]}..., which is newer",
                "Restore a newer copy; with this one, what was charged since would be forgotten.",
            )
        _copied(source, place, replaces=place.anchor.path.exists())
        return found


def _copied(source: LedgerFile, copy: LedgerFile, replaces: bool = False) -> str:
    book, head = Book(source), Path(copy.anchor.path)
    for path in (copy.path, copy.beside("-wal"), *(() if replaces else (head,))):
        if path.exists():
            remedy = "Give another place, or move away what is there."
            raise LedgerError(f"copy to {copy.path}", f"{path.name} is there already", remedy)
    with book.reading():
        pass
    source.copy_to(copy.path)
    with closing(copy):
        copied = Book(copy)
        with copy.reading() as stored:
            for link in stored.links(0):
                copied.chain.follow(link)
        for digest in source.all_kept():
            data = book.kept(digest)
            if data is not None:
                copy.keep(digest, data)
        Anchor(head).create(copied.mark)
        return copied.chain.head
