"""`discreet site`: a file to begin with, checks, backups, and their way back."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from argparse import Namespace
from contextlib import closing
from pathlib import Path

from discreet.core.budget import Budget
from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing, ParameterError
from discreet.ledger.backup import back_up
from discreet.ledger.backup import restore as put_back
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.saying import say
from discreet.service.server.new_site import new_site
from discreet.service.server.site import LOCK, STORE, locked
from discreet.service.server.site_file import SiteFile, read_site


def init(arguments: Namespace) -> int:
    """Write a site to begin with."""
    path = new_site(Path(arguments.folder), Budget(arguments.epsilon, arguments.delta))
    way = f"Add somebody: discreet user add NAME --role curator --site {path}\nThen: discreet serve {path}"
    say(arguments, f"Wrote {path}.\n{way}", site=str(path))
    return 0


def check(arguments: Namespace) -> int:
    """Check the file and all ledgers."""
    file, found = read_site(arguments.file), {}
    for name, one in file.data.items():
        with one.opened() as ledger:
            found[name] = ledger.verify()
    lines = [f"{name}: {one.entries} entries, {one.dangling} dangling, head {one.head}" for name, one in found.items()]
    heads = {name: one.head for name, one in found.items()}
    say(arguments, "\n".join(lines) or "There is no data set yet.", heads=heads)
    return 0


def backup(arguments: Namespace) -> int:
    """Copy each ledger as it is at one moment, and the site's own memory; databases have backups of their own."""
    file, out = read_site(arguments.file), Path(arguments.out)
    try:
        out.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise ParameterError(f"backup to {out}", "it is there already", "Give a new folder.") from None
    heads = {name: back_up(path, out / f"{name}.ledger") for name, path in _files(file).items()}
    if file.beside(STORE).exists():
        _copy_database(file.beside(STORE), out / STORE)
    shutil.copyfile(file.path, out / "site.toml")
    lines = [f"{name}: head {head}" for name, head in heads.items()]
    lines += [f"{name}: in a database, whose own backup has it" for name in file.data if name not in heads]
    say(arguments, "\n".join([f"Wrote {out}. Keep these heads elsewhere:", *lines]), out=str(out), heads=heads)
    return 0


def restore(arguments: Namespace) -> int:
    """Put ledgers back that are at least as new as what is there, and as what is known of them; all of them or none."""
    file, source = read_site(arguments.file), Path(arguments.source)
    lock = locked(file.beside(LOCK), f"restore {file.path.parent}")
    try:
        return _restored(arguments, file, source)
    finally:
        os.close(lock)


def _restored(arguments: Namespace, file: SiteFile, source: Path) -> int:
    known = dict(map(_head, arguments.head))
    files = _files(file)
    heads = {name: _newest(name, path, known.get(name)) for name, path in files.items()}
    with tempfile.TemporaryDirectory() as trial:
        for name in files:  # refused here, before anything is changed
            put_back(source / f"{name}.ledger", Path(trial, name), heads[name])
    for name, path in files.items():
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        put_back(source / f"{name}.ledger", path, heads[name])
    if (source / STORE).exists() and not file.beside(STORE).exists():
        _copy_database(source / STORE, file.beside(STORE))
    say(arguments, f"Restored {', '.join(files)} from {source}.", data=list(files))
    return 0


def _files(file: SiteFile) -> dict[str, Path]:
    """The ledgers that are files; a population's is that of several data sets."""
    return {name: one.account for name, one in file.data.items() if isinstance(one.account, Path)}


def _newest(name: str, path: Path, known: str | None) -> list[str]:
    """The heads that a copy must have: that of the ledger that is there, and the one that was kept elsewhere."""
    heads = [] if known is None else [known]
    try:
        with SqliteLedger.open(path) as there:
            return [*heads, there.head]
    except (LedgerMissing, LedgerBroken) as why:
        if known is None:
            obstacle = f"the ledger there cannot tell how new it was ({why.obstacle})"
            remedy = f"Give the newest head that was kept elsewhere: --head {name}=HEX."
            raise LedgerError(f"restore {name}", obstacle, remedy, "Nothing was changed.") from why
        return heads


def _head(text: str) -> tuple[str, str]:
    name, _, head = text.partition("=")
    if not head:
        raise ParameterError("--head", f"it is {text!r:.80}", "Give DATA=HEX.")
    return name, head


def _copy_database(source: Path, target: Path) -> None:
    """A database as it is at one moment, whoever writes."""
    with closing(sqlite3.connect(source)) as there, closing(sqlite3.connect(target)) as here:
        there.backup(here)
    target.chmod(0o600)
