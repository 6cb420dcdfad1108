"""`discreet site`: a file to begin with, checks, backups, and their way back."""

from __future__ import annotations

import shutil
import sqlite3
from argparse import Namespace
from contextlib import closing
from pathlib import Path

from discreet.core.budget import Budget
from discreet.core.errors import LedgerBroken, LedgerError, LedgerMissing, ParameterError
from discreet.ledger.ledger_view import verify
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.saying import say
from discreet.service.server.new_site import new_site
from discreet.service.server.site import STORE
from discreet.service.server.site_file import SiteFile, read_site

BESIDE = (".head", ".kept")


def init(arguments: Namespace) -> int:
    """Write a site to begin with."""
    path = new_site(Path(arguments.folder), Budget(arguments.epsilon, arguments.delta))
    way = f"Add somebody: discreet user add NAME --role curator --site {path}\nThen: discreet serve {path}"
    say(arguments, f"Wrote {path}.\n{way}", site=str(path))
    return 0


def check(arguments: Namespace) -> int:
    """Check the file and all ledgers."""
    file = read_site(arguments.file)
    found = {name: verify(one.account) for name, one in file.data.items()}
    lines = [f"{name}: {one.entries} entries, {one.dangling} dangling, head {one.head}" for name, one in found.items()]
    say(
        arguments,
        "\n".join(lines) or "There is no data set yet.",
        heads={name: one.head for name, one in found.items()},
    )
    return 0


def backup(arguments: Namespace) -> int:
    """Copy each ledger as it is at one moment, its mark first: the copy is never behind its own mark."""
    file, out = read_site(arguments.file), Path(arguments.out)
    try:
        out.mkdir(mode=0o700, parents=True)
    except FileExistsError:
        raise ParameterError(f"backup to {out}", "it is there already", "Give a new folder.") from None
    heads = {}
    for name, one in file.data.items():
        target = out / f"{name}.ledger"
        _copy_beside(one.account, target)
        _copy_database(one.account, target)
        heads[name] = verify(target).head
    _copy_database(file.beside(STORE), out / STORE)
    shutil.copyfile(file.path, out / "site.toml")
    lines = [f"{name}: head {head}" for name, head in heads.items()]
    say(arguments, "\n".join([f"Wrote {out}. Keep these heads elsewhere:", *lines]), out=str(out), heads=heads)
    return 0


def restore(arguments: Namespace) -> int:
    """Put ledgers back that are at least as new as what is there, and as what is known of them."""
    file, source = read_site(arguments.file), Path(arguments.source)
    known = dict(_head(text) for text in arguments.head)
    for name in file.data:
        _check_newest(file, name, source / f"{name}.ledger", known.get(name))
    for name, one in file.data.items():
        for suffix in ("-wal", "-shm"):
            one.account.with_name(one.account.name + suffix).unlink(missing_ok=True)
        _copy_beside(source / f"{name}.ledger", one.account)
        shutil.copyfile(source / f"{name}.ledger", one.account)
        one.account.chmod(0o600)
        verify(one.account)
    if (source / STORE).exists() and not file.beside(STORE).exists():
        shutil.copyfile(source / STORE, file.beside(STORE))
        file.beside(STORE).chmod(0o600)
    say(arguments, f"Restored {', '.join(file.data)} from {source}.", data=list(file.data))
    return 0


def _check_newest(file: SiteFile, name: str, copy: Path, known: str | None) -> None:
    """Refuse a copy that would undo charges: of the ledger that is there, or of a head that was kept elsewhere."""
    verify(copy, known)
    account = file.data[name].account
    try:
        with SqliteLedger.open(account) as there:
            newest = there.head
    except (LedgerMissing, LedgerBroken) as why:
        if known is None:
            obstacle = f"the ledger there cannot tell how new it was ({why.obstacle})"
            remedy = f"Give the newest head that was kept elsewhere: --head {name}=HEX."
            raise LedgerError(f"restore {name}", obstacle, remedy, "Nothing was changed.") from why
        return
    try:
        verify(copy, newest)
    except LedgerBroken as why:
        obstacle = "the ledger there has charges that the copy lacks, so that its budget would be spent twice"
        raise LedgerError(
            f"restore {name}", obstacle, "Keep the ledger that is there.", "Nothing was changed."
        ) from why


def _head(text: str) -> tuple[str, str]:
    name, _, head = text.partition("=")
    if not head:
        raise ParameterError("--head", f"it is {text!r:.80}", "Give DATA=HEX.")
    return name, head


def _copy_beside(source: Path, target: Path) -> None:
    for suffix in BESIDE:
        there, here = (one.with_name(one.name + suffix) for one in (source, target))
        if there.is_dir():
            shutil.copytree(there, here, dirs_exist_ok=True)
        elif there.exists():
            shutil.copyfile(there, here)
            here.chmod(0o600)


def _copy_database(source: Path, target: Path) -> None:
    """A database as it is at one moment, whoever writes."""
    if not source.exists():
        return
    with closing(sqlite3.connect(source)) as there, closing(sqlite3.connect(target)) as here:
        there.backup(here)
    target.chmod(0o600)
