"""A report as plain text, for a terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from discreet.display.digits import error_bar, number
from discreet.display.plain import plain, shortened
from discreet.releases.estimate import Estimate
from discreet.schema.schema import Number

if TYPE_CHECKING:
    from discreet.query.column_profile import ColumnProfile
    from discreet.query.report import Report


def value_text(figure: Estimate) -> str:
    """The value, cut where its error bar begins; a date or a time as such."""
    return number(figure.value, figure.half_width) if figure.kind is None else figure.kind.shown(figure.value)


def error_text(figure: Estimate) -> str:
    """Half the width of its interval; of a date in days."""
    error = error_bar(figure.half_width)
    return error if figure.kind is None else f"{error} {figure.kind.unit}"


LABEL, VALUE, BAR = 22, 14, 30
BLOCKS = " ▁▂▃▄▅▆▇█"


def text(report: Report) -> str:
    """The whole report: every column, then the receipt."""
    words = report.receipt.lines()
    words["account"] = str(report.balance)
    receipt = [f"{name:>10}  {plain(said)}" for name, said in words.items()]
    head = f"Private profile of {plain(report.title + report.receipt.among)}"
    cost = f"epsilon {report.budget.epsilon:g}, delta {report.budget.delta:g}; error bars hold with 95 % confidence"
    columns = ["\n".join(_column(column)) for column in report.columns]
    return "\n\n".join([f"{head}\n{cost}", *columns, "\n".join(["Receipt", *receipt])])


def _column(column: ColumnProfile) -> list[str]:
    lines = [f"{plain(column.name)} ({column.description})"]
    lines += [_row(figure.name, value_text(figure), error_text(figure)) for figure in column.figures]
    if isinstance(column.kind, Number):
        return [*lines, f"{'histogram':>{LABEL}}  |{sparkline([bar.count for bar in column.bars])}|"]
    most = max([1.0, *(bar.count for bar in column.bars)])
    for bar in column.bars:
        row = _row(bar.label, number(bar.count, bar.error), error_bar(bar.error))
        lines.append(f"{row}  {'█' * round(BAR * max(bar.count, 0.0) / most)}".rstrip())
    return lines if column.bars else [*lines, f"{'no value':>{LABEL}}  is frequent enough to be named"]


def sparkline(counts: Sequence[float]) -> str:
    """Counts as a line of blocks, lowest to highest.

    Examples
    --------
    >>> sparkline([0.0, 4.0, 8.0])
    ' ▄█'
    """
    most = max([1.0, *counts])
    return "".join(BLOCKS[round(8 * max(0.0, count) / most)] for count in counts)


def _row(label: str, value: str, error: str) -> str:
    return f"{shortened(label, LABEL):>{LABEL}}  {value:>{VALUE}} ± {error}"
