"""A small site in a folder, for tests: two data sets, four users."""

from __future__ import annotations

from pathlib import Path

from discreet.core.budget import Budget
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.sample import SCHEMA
from discreet.query.schema_file import read_schema

TEXT = """
name = "test site"
address = "127.0.0.1:0"

[limits]
requests = 100000
running = 64

[deadlines]
cheap = 0.05
long = 0.1

[approval]
above = 2.5

[data.patients]
source = "sample"
account = "patients.ledger"
assumed = 5000
about = "Made-up stays."

[data.staff]
source = "staff.csv"
schema = "staff.toml"
account = "staff.ledger"

[users.ann]
role = "analyst"
data = ["patients"]

[users.bob]
role = "analyst"
data = ["staff"]

[users.cat]
role = "curator"

[users.dan]
role = "auditor"
"""


def made_site(folder: Path, budget: Budget | None = None, text: str = TEXT) -> Path:
    """The file of a site whose accounts have this budget."""
    described = read_schema(SCHEMA)
    for name in ("patients", "staff"):
        SqliteLedger.create(
            folder / f"{name}.ledger",
            budget or Budget(1000.0, 1e-5),
            name=name,
            neighbors=described.neighbors,
            unit=described.unit,
        ).close()
    (folder / "staff.csv").write_text("pay\n" + "\n".join(str(30 + row % 40) for row in range(400)) + "\n")
    (folder / "staff.toml").write_text('[columns.pay]\nkind = "number"\nlower = 0\nupper = 100\n')
    (folder / "site.toml").write_text(text)
    return folder / "site.toml"
