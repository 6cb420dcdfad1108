"""Where a ledger may be kept, for trials that hold for each: a file, or a database that servers share."""

from __future__ import annotations

import importlib
import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors
from discreet.ledger.anchor import Anchor, AnchoredHead
from discreet.ledger.chain import BEFORE_ALL, canonical, seal
from discreet.ledger.postgres_ledger import PostgresLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.ledger.stored_ledger import StoredLedger


@dataclass(frozen=True)
class FilePlace:
    """A ledger in a file of this folder."""

    folder: str
    name: str = "survey"

    @property
    def path(self) -> Path:
        return Path(self.folder) / self.name

    @property
    def anchor(self) -> Anchor:
        return Anchor(self.path.with_name(f"{self.name}.head"))

    def created(self, budget: Budget, **more: Any) -> StoredLedger:
        return SqliteLedger.create(self.path, budget, name=self.name, neighbors=Neighbors.ADD_REMOVE, **more)

    def opened(self, **more: Any) -> StoredLedger:
        return SqliteLedger.open(self.path, **more)

    def edited(self, *statements: str) -> None:
        with closing(sqlite3.connect(self.path)) as db, db:
            for statement in statements:
                db.execute(statement)

    def bodies(self) -> list[tuple[int, str]]:
        with closing(sqlite3.connect(self.path)) as db:
            return db.execute("select number, body from entry order by number").fetchall()

    def write(self, number: int, body: str, head: str) -> None:
        with closing(sqlite3.connect(self.path)) as db, db:
            db.execute("update entry set body = ?, hash = ? where number = ?", (body, head, number))


@dataclass(frozen=True)
class DatabasePlace:
    """A ledger in a schema of this database; each server has its anchor in the folder."""

    address: str
    folder: str
    name: str = "survey"
    server: str = "first"

    @property
    def anchor(self) -> Anchor:
        return Anchor(Path(self.folder) / f"{self.server}.head")

    def created(self, budget: Budget, **more: Any) -> StoredLedger:
        return PostgresLedger.create(
            self.address, budget, account=self.name, anchor=self.anchor.path, neighbors=Neighbors.ADD_REMOVE, **more
        )

    def opened(self, **more: Any) -> StoredLedger:
        return PostgresLedger.open(self.address, account=self.name, anchor=self.anchor.path, **more)

    def edited(self, *statements: str) -> None:
        with self.connected() as db:
            for statement in statements:
                db.execute(statement)

    def bodies(self) -> list[tuple[int, str]]:
        with self.connected() as db:
            return list(db.execute("select number, body from entry order by number"))

    def write(self, number: int, body: str, head: str) -> None:
        with self.connected() as db:
            db.execute("update entry set body = %s, hash = %s where number = %s", (body, head, number))

    def connected(self) -> Any:
        """A connection of an administrator."""
        db = importlib.import_module("psycopg").connect(self.address)
        db.execute(f'set search_path to "{self.name}"')
        return db


Place = FilePlace | DatabasePlace


def rewritten(place: Place, change: Callable[[dict[str, Any]], None]) -> None:
    """What somebody with the store and this source can do: change bodies, seal all anew, move the anchor."""
    before, number = BEFORE_ALL, 0
    for number, body in place.bodies():
        fields = json.loads(body)
        change(fields)
        before = seal(before, canonical(fields))
        place.write(number, canonical(fields), before)
    place.anchor.create(AnchoredHead(number, before))
