"""The file that describes a site, in TOML: its data sets, who may ask them, and the limits that all are told.

    name = "St. Mary's"
    address = "127.0.0.1:8400"        # beyond this machine only with a certificate
    identity = "identity.key"         # may be left out: signs receipts and cards; see `discreet identity`

    [tls]                             # may be left out on this machine
    certificate = "site.pem"
    key = "site.key"

    [limits]                          # of each user
    requests = 600                    # a minute
    running = 8                       # questions at a time

    [deadlines]                       # answers leave at multiples of so many seconds after their questions came
    cheap = 0.25
    long = 1.0

    [approval]
    above = 0.5                       # questions whose epsilon is larger wait for a curator

    [data.patients]
    schema = "patients.toml"          # columns, relation and unit: see `discreet schema init`
    source = "patients.csv"           # or a Parquet file, a folder, a pattern; "sample" is the table of this library
    account = "patients.ledger"       # see `discreet ledger create`; or, for one in PostgreSQL,
                                      # { address = "postgresql://...", name = "patients", anchor = "patients.anchor" }
    table = "visits"                  # may be left out: of a population's ledger, the table that this is
    project = "survey"                # may be left out: the project that its questions are charged to, too
    about = "Stays of 2024."
    assumed = 5000                    # how many records `plan` assumes, from what is known without the data
    above = 1.0                       # in place of approval.above

    [users.ann]
    role = "analyst"                  # or "curator", or "auditor"
    data = ["patients"]               # which data sets an analyst may ask; curators and auditors see all

A word that nothing would read is refused, and so is an address beyond this machine without a certificate.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from discreet.core.errors import SchemaError
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.ledger.stored_ledger import StoredLedger
from discreet.query.schema_file import SchemaFile, read_schema
from discreet.query.toml_file import read_toml

Role = Literal["analyst", "curator", "auditor"]
WORDS = ("name", "address", "identity", "tls", "limits", "deadlines", "approval", "data", "users")
SAMPLE = "sample"
NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.")
LONGEST_NAME = 64


@dataclass(frozen=True)
class PostgresAccount:
    """A ledger in PostgreSQL: the database, its name there, and the file with its newest head, on this machine."""

    address: str = field(repr=False)
    name: str
    anchor: Path


@dataclass(frozen=True)
class DataSetEntry:
    """A data set of a site, as its file has it.

    Parameters
    ----------
    name, about : str
        Public. What it is called, and what it is.
    described : SchemaFile
        Public. Its columns, relation and unit.
    source : str
        Where its records are.
    account : Path or PostgresAccount
        Of its ledger.
    table : str, optional
        Public. Of a population's ledger, the table that this data set is.
    project : str, optional
        Public. The project that questions are charged to, beside the data set.
    assumed : int, optional
        Public. The number of records that plans assume.
    above : float, optional
        Public. The epsilon above which a question waits for a curator.
    """

    name: str
    described: SchemaFile
    source: str
    account: Path | PostgresAccount
    about: str = ""
    assumed: int | None = None
    above: float | None = None
    table: str | None = None
    project: str | None = None

    def opened(self) -> StoredLedger:
        """The ledger, for charges of this data set."""
        match self.account:
            case Path() as path:
                ledger: StoredLedger = SqliteLedger.open(path)
            case PostgresAccount(address, name, anchor):
                from discreet.ledger.postgres_ledger import PostgresLedger

                ledger = PostgresLedger.open(address, account=name, anchor=anchor)
        apart = self.table is None and self.project is None
        return ledger if apart else ledger.within(table=self.table, project=self.project)


@dataclass(frozen=True)
class UserEntry:
    """Somebody who may use a site: a name, a role, and the data sets that an analyst may ask."""

    name: str
    role: Role
    data: tuple[str, ...] = ()

    def sees(self, data_set: str) -> bool:
        """Whether a data set exists for this user."""
        return self.role != "analyst" or data_set in self.data


@dataclass(frozen=True)
class SiteFile:
    """All that the file of a site says.

    Parameters
    ----------
    path : Path
        Of the file; other paths in it are relative to its folder.
    name : str
        Public. What the site is called.
    host, port : str, int
        Where it listens.
    certificate : (Path, Path), optional
        Of TLS, and its key.
    requests, running : int
        Public. How often a user may ask a minute, and how many questions at a time.
    cheap, long : float
        Public. The deadlines, in seconds.
    data : mapping of str to DataSetEntry
        The data sets.
    users : mapping of str to UserEntry
        Who may use it.
    identity : Path, optional
        Of the key that signs its receipts and cards.
    """

    path: Path
    name: str = "site"
    host: str = "127.0.0.1"
    port: int = 8400
    certificate: tuple[Path, Path] | None = None
    requests: int = 600
    running: int = 8
    cheap: float = 0.25
    long: float = 1.0
    data: Mapping[str, DataSetEntry] = field(default_factory=dict)
    users: Mapping[str, UserEntry] = field(default_factory=dict)
    identity: Path | None = None

    def beside(self, name: str) -> Path:
        """A file in the folder of the site."""
        return self.path.parent / name

    def check_covered(self) -> None:
        """Refuse to be reached from elsewhere in the clear."""
        if self.certificate is None and not is_this_machine(self.host):
            obstacle = f"{self.host} is reached from other machines, and there is no certificate"
            raise SchemaError(f"site {self.path}", obstacle, "Add [tls] with certificate and key, or use 127.0.0.1.")


def is_this_machine(host: str) -> bool:
    """Whether an address is reached from this machine alone."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def read_site(path: str | Path) -> SiteFile:
    """The site that a file describes; `SchemaError` at the first mistake, with the word and the way out."""
    place = Path(path)
    where = f"site {place}"
    said = read_toml(where, place)
    _known(said, WORDS, where)
    host, port = _address(said.get("address", "127.0.0.1:8400"), where)
    limits = _table(said, "limits", ("requests", "running"), where)
    deadlines = _table(said, "deadlines", ("cheap", "long"), where)
    approval = _table(said, "approval", ("above",), where)
    above = None if "above" not in approval else _number(approval, "above", 0.0, where)
    data = {
        name: _data_set(place.parent, name, entry, above, f"{where}, data set {name!r}")
        for name, entry in _tables(said, "data", where).items()
    }
    users = {
        name: _user(name, entry, data, f"{where}, user {name!r}")
        for name, entry in _tables(said, "users", where).items()
    }
    found = SiteFile(
        place,
        _text(said, "name", where, "site"),
        host,
        port,
        _certificate(place.parent, _table(said, "tls", ("certificate", "key"), where), where),
        int(_number({"requests": 600, **limits}, "requests", 1, where)),
        int(_number({"running": 8, **limits}, "running", 1, where)),
        _number({"cheap": 0.25, **deadlines}, "cheap", 0.0, where),
        _number({"long": 1.0, **deadlines}, "long", 0.0, where),
        data,
        users,
        place.parent / _text(said, "identity", where) if "identity" in said else None,
    )
    found.check_covered()
    return found


def check_name(what: str, name: str, where: str) -> None:
    """Refuse a name that would have to be quoted somewhere: in an address, a file, a page."""
    if not isinstance(name, str) or not 0 < len(name) <= LONGEST_NAME or not set(name) <= NAME or name[0] in ".-":
        remedy = f"Take up to {LONGEST_NAME} letters from a to z, digits, '_', '-' and '.'."
        raise SchemaError(where, f"{what} is called {name!r:.80}", remedy)


def _known(table: Mapping[str, Any], words: tuple[str, ...], where: str) -> None:
    for word in table:
        if word not in words:
            raise SchemaError(where, f"nothing is called {word!r:.80} here", f"Known here: {', '.join(words)}.")


def _table(said: Mapping[str, Any], name: str, words: tuple[str, ...], where: str) -> Mapping[str, Any]:
    found = said.get(name, {})
    if not isinstance(found, dict):
        raise SchemaError(where, f"{name} is {found!r:.60}, not a table", f"Write [{name}], and its words below.")
    _known(found, words, f"{where}, {name}")
    return found


def _tables(said: Mapping[str, Any], name: str, where: str) -> Mapping[str, Any]:
    found = said.get(name, {})
    if not isinstance(found, dict) or not all(isinstance(one, dict) for one in found.values()):
        raise SchemaError(where, f"{name} is not made of tables", f"Write [{name}.NAME] for each.")
    for one in found:
        check_name(name, one, where)
    return found


def _text(said: Mapping[str, Any], word: str, where: str, default: str | None = None) -> str:
    value = said.get(word, default)
    if not isinstance(value, str):
        obstacle = f"{word} is missing" if value is None else f"{word} is {value!r:.60}, which is no text"
        raise SchemaError(where, obstacle, f'Write {word} = "...".')
    return value


def _number(said: Mapping[str, Any], word: str, least: float, where: str) -> float:
    value = said[word]
    if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value < 1e9:
        raise SchemaError(where, f"{word} is {value!r:.60}", f"Write a number from {least:g} up.")
    return float(value)


def _address(said: Any, where: str) -> tuple[str, int]:
    host, _, port = said.rpartition(":") if isinstance(said, str) else ("", "", "")
    if not host or not port.isascii() or not port.isdecimal() or int(port) > 65535:
        raise SchemaError(where, f"address is {said!r:.60}", 'Write such as address = "127.0.0.1:8400".')
    return host.strip("[]"), int(port)


def _certificate(folder: Path, said: Mapping[str, Any], where: str) -> tuple[Path, Path] | None:
    if not said:
        return None
    return folder / _text(said, "certificate", f"{where}, tls"), folder / _text(said, "key", f"{where}, tls")


def _data_set(folder: Path, name: str, said: Mapping[str, Any], above: float | None, where: str) -> DataSetEntry:
    _known(said, ("schema", "source", "account", "table", "project", "about", "assumed", "above"), where)
    source = _text(said, "source", where)
    if source == SAMPLE:
        from discreet.query.sample import SCHEMA, TABLE

        described, place = read_schema(folder / said["schema"] if "schema" in said else SCHEMA), str(TABLE)
    else:
        described, place = read_schema(folder / _text(said, "schema", where)), str(folder / source)
    return DataSetEntry(
        name,
        described,
        place,
        _account(folder, said, where),
        _text(said, "about", where, ""),
        int(_number(said, "assumed", 1, where)) if "assumed" in said else None,
        _number(said, "above", 0.0, where) if "above" in said else above,
        *(_text(said, word, where) if word in said else None for word in ("table", "project")),
    )


def _account(folder: Path, said: Mapping[str, Any], where: str) -> Path | PostgresAccount:
    if not isinstance(said.get("account"), dict):
        return folder / _text(said, "account", where)
    account = _table(said, "account", ("address", "name", "anchor"), where)
    address, name, anchor = (_text(account, word, f"{where}, account") for word in ("address", "name", "anchor"))
    return PostgresAccount(address, name, folder / anchor)


def _user(name: str, said: Mapping[str, Any], data: Mapping[str, DataSetEntry], where: str) -> UserEntry:
    _known(said, ("role", "data"), where)
    role, asked = _text(said, "role", where), said.get("data", [])
    if role not in get_args(Role):
        raise SchemaError(where, f"role is {role!r:.60}", f"Roles are {', '.join(get_args(Role))}.")
    if not isinstance(asked, list) or not all(isinstance(one, str) for one in asked):
        raise SchemaError(where, f"data is {asked!r:.60}", 'Write data = ["patients"].')
    for one in asked:
        if one not in data:
            raise SchemaError(where, f"there is no data set {one!r:.60}", f"There are {', '.join(data) or 'none'}.")
    return UserEntry(name, role, tuple(asked))  # type: ignore[arg-type]
