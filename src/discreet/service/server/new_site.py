"""A site to begin with: a folder with the sample table's account, a key that signs, and a file to fill in."""

from __future__ import annotations

from pathlib import Path

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.ledger.own_file import create_own, replace_own
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.system_bits import system_bits
from discreet.query.sample import SCHEMA
from discreet.query.schema_file import read_schema
from discreet.service.key_file import write_identity

FILE, KEY, CARD = "site.toml", "identity.key", "site.card"
TEXT = """name = "{name}"
address = "127.0.0.1:{port}"      # beyond this machine: add [tls] with certificate and key
identity = "{key}"     # signs receipts and cards; whoever checks them needs site.card

[limits]                      # of each user
requests = 600                # a minute
running = 8                   # questions at a time

[deadlines]                   # answers leave at multiples of so many seconds after their questions came
cheap = 0.25
long = 1.0

[approval]
above = 1.0                   # questions with a larger epsilon wait for a curator

[data.patients]               # one such table for each data set
source = "sample"             # or a .csv or .parquet file, with: schema = "patients.toml"
account = "patients.ledger"   # see: discreet ledger create
about = "5,000 made-up stays in a hospital."
assumed = 5000                # how many records plans assume, from what is known without the data
{users}"""
DEMO = """
[users.guest]
role = "analyst"
data = ["patients"]

[users.curator]
role = "curator"
"""


def new_site(folder: Path, budget: Budget | None = None, demo: bool = False) -> Path:
    """Write the file of a site, its key and card, and the account of its sample; another file there is left alone."""
    folder.mkdir(parents=True, exist_ok=True)
    path, described = folder / FILE, read_schema(SCHEMA)
    name, port, users = ("demo", 0, DEMO) if demo else ("My site", 8400, "")
    try:
        create_own(path, TEXT.format(name=name, port=port, key=KEY, users=users).encode())
    except FileExistsError:
        raise ParameterError(f"write {path}", "it is there already", "Choose another folder.") from None
    identity = Identity.drawn(folder.resolve().name or "site", system_bits())
    write_identity(folder / KEY, identity)
    replace_own(folder / CARD, PartyCertificate.of(identity).certificate)
    about = {"name": "patients", "neighbors": described.neighbors, "unit": described.unit}
    SqliteLedger.create(folder / "patients.ledger", budget or Budget(10.0, 1e-6), **about).close()  # type: ignore
    return path
