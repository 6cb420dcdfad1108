"""What pages show of accounts, releases and charges: drawn here, from what is public or released."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.ledger import Balance, Entry
from discreet.core.receipt import RELATIONS, in_words
from discreet.display.plain import shortened
from discreet.query.chart import Bar, row_chart
from discreet.query.line_chart import burn_down
from discreet.query.report import Report
from discreet.releases.columns import Columns
from discreet.releases.release import Release
from discreet.service.console.templates import markup
from discreet.service.server.site import DataSetView
from discreet.service.server.site_store import AskedEntry

MOST_ROWS = 200  # of a result that is shown; all are in its file
MOST_LETTERS = 160  # of an attribute of a model
STATES = {
    "asked": ("asked", ""),
    "waiting": ("waits for a curator", "warn"),
    "queued": ("queued", ""),
    "running": ("running", ""),
    "done": ("answered", "good"),
    "denied": ("denied", "warn"),
    "failed": ("not answered", "warn"),
    "dangling": ("charged, no answer", "warn"),
}


@dataclass(frozen=True)
class BalanceShown:
    """An account as a page shows it.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> BalanceShown.of("you", Balance(Budget(2.0, 1e-6), 0.5))
    BalanceShown(name='you', left='1.5', cap='2', share=0.75, delta='1e-06')
    """

    name: str
    left: str
    cap: str
    share: float
    delta: str

    @classmethod
    def of(cls, name: str, balance: Balance) -> BalanceShown:
        """An account by the name of whose it is."""
        share = round(1 - balance.used, 6)
        return cls(name, balance.left, f"{balance.budget.epsilon:g}", share, f"{balance.budget.delta:g}")


def balances_shown(balances: Mapping[str, Balance]) -> list[BalanceShown]:
    """All accounts, that of the data set first."""
    names = {"data set": "everybody together"}
    return [BalanceShown.of(names.get(name, name), balance) for name, balance in balances.items()]


def protects(view: DataSetView) -> str:
    """Whose presence is hidden, in a sentence."""
    limit = "" if view.unit.is_row else f" ({view.unit.limit})"
    return f"one {view.unit.kind}{limit} that is {RELATIONS[view.neighbors]}"


def schema_rows(view: DataSetView) -> list[tuple[str, str, str]]:
    """The columns, as everybody may know them."""
    return [(name, type(kind).__name__.lower(), kind.described) for name, kind in view.schema.columns.items()]


def burnt_down(balance: Balance, prices: Sequence[float]) -> Any:
    """What was left after each charge: their prices, in proportion to what they cost together."""
    total = sum(prices)
    used, running = [], 0.0
    for price in prices:
        running += price
        used.append(balance.certified * running / total if total else 0.0)
    return markup(burn_down(balance.budget.epsilon, used))


def charges(entries: Sequence[Entry]) -> list[tuple[str, ...]]:
    """Charges with their proofs, the newest first."""
    return [
        (
            str(entry.number),
            entry.at,
            entry.analyst or "",
            shortened(entry.purpose, 200),
            in_words(entry.event),
            f"waived: {entry.waiver}" if entry.waiver else f"{entry.epsilon:.4g}",
            ("answered" if entry.committed else "spent, never answered")
            + ("" if entry.secret else "; from known bits: not private"),
            entry.head[:16],
        )
        for entry in reversed(entries)
    ]


def questions_shown(entries: Sequence[AskedEntry]) -> list[dict[str, Any]]:
    """Questions that were asked, with their states in words."""
    return [
        {
            "id": entry.id,
            "data": entry.data,
            "user": entry.user,
            "title": shortened(question_title(entry), 160),
            "price": f"{entry.epsilon:g}" + (f", delta {entry.delta:g}" if entry.delta else ""),
            "state": STATES[entry.state][0],
            "badge": STATES[entry.state][1],
            "raw": entry.state,
            "why": entry.why,
            "day": entry.day,
            "key": entry.key,
        }
        for entry in entries
    ]


def question_title(entry: AskedEntry) -> str:
    """What was asked, for a reader."""
    match entry.plain:
        case {"words": str(words)}:
            return words
        case {"sql": str(text)}:
            return " ".join(text.split())
        case {"statistic": str(name), "options": dict(options)}:
            return f"{name.replace('_', ' ')} {_said(options)}".strip()
        case {"learner": str(name), "parameters": dict(parameters)}:
            return f"{name} {_said(parameters)}".strip()
        case plain:
            return str(plain)


def _said(options: Mapping[str, Any]) -> str:
    column = options.get("column", options.get("columns", ""))
    of = f"of {column if isinstance(column, str) else ' and '.join(column)}" if column else ""
    by = options.get("by", "")
    grouped = f"by {by if isinstance(by, str) else ' and '.join(by)}" if by else ""
    where = f"where {options['where']}" if "where" in options else ""
    others = [f"{name}={value}" for name, value in options.items() if name not in ("column", "columns", "by", "where")]
    return " ".join(filter(None, (of, *others, grouped, where)))


@dataclass(frozen=True)
class ResultShown:
    """A release on a page: one number, a table with bars, or a part that draws itself.

    Parameters
    ----------
    headline : str
        The one number, with its error; nothing where there are several.
    head, rows : sequence
        A table.
    charts : sequence
        A bar for each of its rows; none where it has no counts.
    drawn : markup
        What draws itself.
    text : str
        The result as text.
    left_out : int
        How many rows are not shown.
    """

    headline: str = ""
    head: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    charts: Sequence[Any] = ()
    drawn: Any = ""
    text: str = ""
    left_out: int = 0

    @classmethod
    def of(cls, released: Any, text: str, plain: Mapping[str, Any] | None = None) -> ResultShown:
        """The form that fits what was released."""
        if isinstance(released, Report):
            from discreet.query.page import fragment

            return cls(drawn=markup(fragment(released).replace("<main>", "<div>").replace("</main>", "</div>")))
        if not isinstance(released, Release):
            fitted = (plain or {}).get("attributes", {})
            told = [(name, shortened(json.dumps(rounded(value)), MOST_LETTERS)) for name, value in fitted.items()]
            return cls(head=("released", "value"), rows=told, text=text)
        columns = released.tabulated()
        if not columns.labels:
            _, values = columns.rows()
            return cls(headline=values[0], head=columns.rows()[0], rows=[values] if len(values) > 1 else [])
        shown = columns.at(slice(MOST_ROWS))
        head, *rows = shown.rows()
        return cls(head=head, rows=rows, charts=_bars(shown), left_out=len(columns) - len(shown))


def rounded(value: Any) -> Any:
    """The same with four digits of each number that count, for a page: all digits are in the file.

    Examples
    --------
    >>> rounded([[76.97427749633789, 3], "a"])
    [[76.97, 3], 'a']
    """
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return float(f"{value:.4g}") if isinstance(value, float) else value


def _bars(columns: Columns) -> list[Any]:
    """A bar for each row, where the first numbers have intervals; as wide as they are large."""
    series = columns.series[0]
    if series.low is None or series.high is None or len(columns) < 2 or series.kind is not None:
        return []
    values, ends = series.values, (series.high - series.low) / 2
    if not all(map(math.isfinite, [*values.tolist(), *ends.tolist()])) or max(values.max(), 0) <= 0:
        return []
    most = float(max((values + ends).max(), 1e-300))
    labels = [" ".join(row[: len(columns.labels)]) for row in columns.rows()[1:]]
    return [
        markup(row_chart(Bar(label, float(value), float(error)), most))
        for label, value, error in zip(labels, values, ends, strict=True)
    ]
