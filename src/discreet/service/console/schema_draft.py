"""A schema as somebody fills it in: texts of a form, and the TOML that they make."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace

from discreet.core.errors import SchemaError
from discreet.query.blank_schema import quoted
from discreet.query.schema_file import KEYS
from discreet.service.console.question_choice import NUMBER
from discreet.service.console.sent_form import SentForm

MOST_COLUMNS = 60
ASKED = "the schema"


@dataclass(frozen=True)
class ColumnDraft:
    """One column, as it was written; empty texts were not filled in."""

    name: str = ""
    kind: str = ""
    lower: str = ""
    upper: str = ""
    step: str = ""
    values: str = ""
    role: str = ""

    @property
    def listed(self) -> list[str]:
        """The values of a category, one on each line."""
        return [value.strip() for value in self.values.splitlines() if value.strip()]

    def toml(self) -> list[str]:
        """The lines of its table."""
        where = f"{ASKED}, column {self.name!r:.80}"
        if self.kind not in KEYS:
            raise SchemaError(
                where, "it is not filled in: its kind is missing", "Choose a kind, or leave out its name."
            )
        lines = [f"[columns.{quoted(self.name)}]", f"kind = {quoted(self.kind)}"]
        lines += [f"{key} = {self._written(key, where)}" for key in KEYS[self.kind]]
        if self.kind == "number" and self.step:
            lines.append(f"step = {self._written('step', where)}")
        return lines + ([f"role = {quoted(self.role)}"] if self.role else [])

    def _written(self, key: str, where: str) -> str:
        """A value in TOML; nothing is made up where nothing was written."""
        if key == "values":
            if not self.listed:
                raise SchemaError(
                    where, "it is not filled in: values missing", "Write each value on a line of its own."
                )
            return json.dumps(self.listed, ensure_ascii=False)
        text = getattr(self, key)
        if not text:
            remedy = "Fill it in, from what you know without the data."
            raise SchemaError(where, f"it is not filled in: {key} missing", remedy, missing=[key])
        if self.kind != "number":
            return _date(text, where)
        if NUMBER.fullmatch(text) is None:
            raise SchemaError(where, f"{key} is {text!r:.40}, which is no number", "Write a number, such as 120.")
        return repr(float(text)) if any(letter in text for letter in ".eE") else str(int(text))


@dataclass(frozen=True)
class SchemaDraft:
    """All of a schema, as it was written.

    Examples
    --------
    >>> age = ColumnDraft("age", "number", "0", "110")
    >>> print(SchemaDraft("patients", columns=(age,)).toml())
    neighbors = "add_remove"
    <BLANKLINE>
    [unit]
    kind = "record"
    <BLANKLINE>
    [columns."age"]
    kind = "number"
    lower = 0
    upper = 110
    <BLANKLINE>
    """

    name: str = ""
    neighbors: str = "add_remove"
    unit: str = "record"
    column: str = ""
    rows: str = ""
    pooled: bool = False
    columns: tuple[ColumnDraft, ...] = (ColumnDraft(), ColumnDraft(), ColumnDraft())

    @classmethod
    def blank(cls, names: Sequence[str]) -> SchemaDraft:
        """A form with these names of columns, and nothing else."""
        return cls(columns=tuple(ColumnDraft(name[:200]) for name in names)) if names else cls()

    @classmethod
    def of(cls, sent: SentForm) -> SchemaDraft:
        """What a form says."""
        count = min(max(sent.whole("count") or 0, 1), MOST_COLUMNS)
        fields = tuple(ColumnDraft.__dataclass_fields__)
        return cls(
            sent.text("name"),
            sent.text("neighbors"),
            sent.text("unit"),
            sent.text("unit-column"),
            sent.text("unit-rows"),
            sent.text("unit-pooled") == "yes",
            tuple(ColumnDraft(*(sent.text(f"{field}-{i}") for field in fields)) for i in range(1, count + 1)),
        )

    def longer(self) -> SchemaDraft:
        """The same with room for another column."""
        return replace(self, columns=(*self.columns, ColumnDraft())[:MOST_COLUMNS])

    def toml(self) -> str:
        """The file; a column without a name is left out, and one that is not filled in is refused."""
        unit = [f"kind = {quoted(self.unit)}"]
        if self.unit != "record":
            unit += [f"column = {quoted(self.column)}"] if self.column else []
            unit += ["pooled = true"] if self.pooled else [f"rows = {_rows(self.rows)}"] if self.rows else []
        named = [column.toml() for column in self.columns if column.name]
        tables = [[f"neighbors = {quoted(self.neighbors)}"], ["[unit]", *unit], *named]
        return "\n\n".join("\n".join(table) for table in tables) + "\n"

    def entry(self) -> str:
        """What the owner of the site adds to its file."""
        name = self.name or "NAME"
        lines = [f"[data.{name}]", f'schema = "{name}.toml"', f'source = "{name}.csv"', f'account = "{name}.ledger"']
        return "\n".join([*lines, 'about = "..."', "assumed = 1000   # about how many records, from what is known\n"])


def _rows(text: str) -> str:
    if not text.isascii() or not text.isdecimal():
        raise SchemaError(f"{ASKED}, unit", f"rows is {text!r:.40}", "Write a whole number, at least 1.")
    return str(int(text))


def _date(text: str, where: str) -> str:
    """A date or a moment as TOML has them."""
    import datetime

    try:
        day = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise SchemaError(where, f"{text!r:.40} is no date", "Write such as 2024-01-31.") from None
    return day.date().isoformat() if len(text) == 10 else day.replace(tzinfo=None).isoformat()
