"""`discreet attack`: what an adversary can do with a model or a table, before it is given away. NOT PRIVATE."""

from __future__ import annotations

import json
from argparse import Namespace
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import TypeVar

from discreet.attacks.material import Material, ModelMaterial, TableMaterial
from discreet.attacks.membership.membership_data import MembershipData
from discreet.attacks.report.attack_page import joined
from discreet.attacks.report.attack_report import AttackReport, attacked
from discreet.attacks.report.demo import demo
from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.display.plain import plain
from discreet.microdata.own_records import OwnRecords
from discreet.query.models.labelled_rows import read_labelled
from discreet.query.models.model_file import read_model
from discreet.query.schema_file import SchemaFile, read_schema
from discreet.releases.release import finite
from discreet.schema.schema import Schema, Text
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.private_file import unquoted
from discreet.service.cli.receipt_command import read_receipt
from discreet.service.cli.saying import put
from discreet.trust.sources.csv_file import CsvForm
from discreet.trust.sources.file import ENDINGS, File, column_names

ASKED = "discreet attack"
DONE, BEYOND = 0, 7
WAYS = (
    "Run: discreet attack MODEL --members FILE --others FILE, or: discreet attack TABLE --original FILE --schema"
    " SCHEMA, or: discreet attack --demo."
)
Found = TypeVar("Found")


def attack(arguments: Namespace) -> int:
    """Write the page, print the report, and tell by the exit code whether an attack went beyond the receipt."""
    _check(arguments)
    kept = (arguments.file, arguments.members, arguments.others, arguments.original, arguments.schema)
    with ExitStack() as files:
        page = files.enter_context(OutFile(arguments.out, (*kept, arguments.receipt)))
        reports = demo() if arguments.demo else (_attacked(arguments),)
        page.write_own(joined(reports))
    put(_json(reports) if arguments.json else "\n\n".join([*map(str, reports), plain(f"Wrote {page.path}")]))
    return BEYOND if any(report.beyond for report in reports) else DONE


def _json(reports: Sequence[AttackReport]) -> str:
    found = [report.to_dict() for report in reports]
    return json.dumps(finite(found[0] if len(found) == 1 else {"reports": found}), allow_nan=False)


def _check(arguments: Namespace) -> None:
    """One of the three ways, and nothing that belongs to another."""
    model, table = ("members", "target", "activation"), ("original", "schema")
    given = {name for name in ("file", "others", "receipt", *model, *table) if getattr(arguments, name) is not None}
    if arguments.demo and not given:
        return
    if arguments.demo or arguments.file is None:
        raise ParameterError(ASKED, "what is to be attacked is not said, or said twice", WAYS)
    is_table = arguments.file.endswith(ENDINGS) or not {*table}.isdisjoint(given)
    needed, other = (table, model) if is_table else (("members", "others"), table)
    missing = [name for name in needed if name not in given]
    strange = [name for name in other if name in given]
    if missing or strange:
        what = "a table" if is_table else "a model"
        wrong = f"--{missing[0]} is missing" if missing else f"--{strange[0]} is given, too"
        raise ParameterError(ASKED, f"{plain(arguments.file)} is taken for {what}, and {wrong}", WAYS)


def _attacked(arguments: Namespace) -> AttackReport:
    material: Material = (_model if arguments.original is None else _table)(arguments)
    receipt = None if arguments.receipt is None else read_receipt(arguments.receipt).receipt
    if receipt is None and isinstance(material, ModelMaterial):
        own = getattr(material.model, "receipt_", None)
        receipt = own if isinstance(own, Receipt) else None
    return attacked(material, name=Path(arguments.file).name, receipt=receipt)


def _model(arguments: Namespace) -> ModelMaterial:
    form = CsvForm(arguments.delimiter, arguments.dialect)
    model = read_model(arguments.file, trust_pickle=arguments.trust_pickle, activation=arguments.activation)
    records, members, others = _unquoted(
        lambda: read_labelled(model, arguments.members, arguments.others, arguments.target, form)
    )
    data = MembershipData.of(members.X, members.y, others.X, others.y, level=arguments.level)
    kind = f"{type(model).__module__}.{type(model).__qualname__}"
    return ModelMaterial(records.asked, data, records.features, kind, records.fitted, arguments.references)


def _table(arguments: Namespace) -> TableMaterial:
    form, described = CsvForm(arguments.delimiter, arguments.dialect), read_schema(arguments.schema)
    paths = [arguments.file, arguments.original, *([arguments.others] if arguments.others is not None else [])]
    schema = _shared(described, [column_names(path, form) for path in paths])
    tables = [_unquoted(partial(_rows, path, schema, form)) for path in paths]
    others = tables[2] if len(tables) > 2 else None
    return TableMaterial(tables[0], tables[1], schema, others, described.roles, arguments.level)


def _shared(described: SchemaFile, headers: Sequence[Sequence[str]]) -> Schema:
    """The columns of the schema that all files have; texts cannot be compared, and are left out."""
    columns = described.schema.columns.items()
    there = {name: one for name, one in columns if not isinstance(one, Text) and all(name in h for h in headers)}
    if not there:
        remedy = "Give a table with columns of the original, and a schema that describes them."
        raise ParameterError(ASKED, "no column of the schema is in all files", remedy)
    return Schema(there)


def _rows(path: str, schema: Schema, form: CsvForm) -> Array:
    return OwnRecords.of(ASKED, File(path, schema, delimiter=form.delimiter, dialect=form.dialect), schema).values


def _unquoted(read: Callable[[], Found]) -> Found:
    return unquoted(ASKED, read, UNTOUCHED)
