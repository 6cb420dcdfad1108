r"""The fields of CSV records, many at once: where each one begins and ends, and its text without quotes.

No loop runs over records, and every step takes the same time whatever they hold, except that a quote costs a little.
A carriage return is an ordinary character: values are read without outer blanks, so that the one of a `\r\n` goes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from discreet.trust.sources.columns.arrow_column import arrow

Dialect = Literal["rfc4180", "lines"]
"""How records are separated: by line ends outside quotes, or by all line ends, so that a quote ends with its line."""

Bytes = NDArray[np.uint8]
Places = NDArray[np.intp]
Marks = NDArray[np.bool_]

LINE, QUOTE = b'\n"'
LONGEST = 2**24  # bytes in a record


@dataclass(frozen=True)
class Fields:
    """The fields of some whole records.

    Parameters
    ----------
    values : pyarrow.LargeBinaryArray
        All fields, without quotes around them, each with the byte that ended it.
    first, width : array of int
        Of each record: the place of its first field, and how many it has. One longer than `LONGEST` has none.
    read : int
        How many bytes these records take.
    rest : bytes
        What could stand for all that comes after them: the next byte would mean the same.
    """

    values: Any
    first: Places
    width: Places
    read: int
    rest: bytes

    def column(self, place: int) -> Any:
        """The field at this place of each record, as bytes; null where a record has no such field."""
        pa = arrow()
        chosen = self.values.take(pa.array(self.first + place, mask=self.width <= place))
        return pa.compute.binary_slice(chosen, 0, -1)

    def after(self, records: int) -> Fields:
        """The fields of all but the first records."""
        return replace(self, first=self.first[records:], width=self.width[records:])

    def blanked(self, records: int) -> Fields:
        """The same fields, with the first records empty."""
        return replace(self, width=np.where(np.arange(len(self.width)) < records, 0, self.width))


def fields_of(data: bytes, delimiter: int, dialect: Dialect) -> Fields:
    r"""The fields of all records that end in these bytes, which begin with a record.

    A quote matters at the beginning of a field alone; from there on a doubled one is a quote, and a single one ends the
    quoted part. That is how Python's `csv` reads.

    Examples
    --------
    >>> found = fields_of(b'ann,"a ""b"",\nc"\n5" nail,\n', ord(","), "rfc4180")
    >>> found.column(1).to_pylist()
    [b'a "b",\nc', b'']
    """
    text = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero((text == delimiter) | (text == LINE))
    quotes = np.flatnonzero(text == QUOTE)
    quotes = (_within_lines if dialect == "lines" else _in_order)(text, quotes, delimiter)
    ends = ends[_before(quotes, ends) % 2 == 0]
    lines = np.flatnonzero(text[ends] == LINE)
    first = np.append(0, lines + 1)
    stops = np.append(0, ends[: first[-1]] + 1)
    syntax = quotes[_is_syntax(quotes)]
    value = np.ones(len(text), dtype=np.bool_)
    value[syntax] = False
    values = _binary(stops - np.append(0, _before(syntax, stops[1:] - 1)), text[value])
    width = np.where(np.diff(stops[first]) <= LONGEST, np.diff(first), 0)
    return Fields(values, first[:-1], width, int(stops[-1]), _rest(text, quotes, delimiter))


def _before(some: Places, places: Places) -> Places:
    """How many of some ascending places come before each of these ascending ones."""
    return np.cumsum(np.bincount(np.searchsorted(places, some), minlength=len(places) + 1))[:-1]


def _binary(offsets: Places, text: Bytes) -> Any:
    pa = arrow()
    buffers = [None, pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(text)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _is_syntax(quotes: Places) -> Marks:
    """Which quotes are no part of a value: all but the first of each pair in a quoted part."""
    syntax = np.ones(len(quotes), dtype=np.bool_)
    syntax[1:-1:2] = quotes[2::2] != quotes[1:-1:2] + 1
    return syntax


def _rest(text: Bytes, quotes: Places, delimiter: int) -> bytes:
    if len(quotes) % 2:
        return b'"'
    if len(quotes) and quotes[-1] == len(text) - 1:
        return b'""'
    return bytes([delimiter]) if len(text) and text[-1] == delimiter else b"x"


def _begins(text: Bytes, quotes: Places, delimiter: int) -> Marks:
    """Which quotes stand at the beginning of a field, if they are not in a quoted part."""
    behind = np.where(quotes > 0, text[quotes - 1], LINE)
    return (behind == delimiter) | (behind == LINE)


def _doubles(quotes: Places) -> Marks:
    """Which quotes come right after another."""
    return np.diff(quotes, prepend=-2) == 1


def _in_order(text: Bytes, quotes: Places, delimiter: int) -> Places:
    """The quotes that matter: they open and close quoted parts by turns, a pair inside one doing both."""
    begins = _begins(text, quotes, delimiter)
    if np.all((begins | _doubles(quotes))[::2]):
        return quotes
    kept, place, i = [], quotes.tolist(), 0
    while i < len(place):  # some stand where no common writer puts one
        j = i + 1
        if begins[i]:
            while j + 1 < len(place) and place[j + 1] == place[j] + 1:
                j += 2
            j += 1
            kept += place[i:j]
        i = j
    return np.array(kept, dtype=np.intp)


def _within_lines(text: Bytes, quotes: Places, delimiter: int) -> Places:
    """The same of each line by itself, up to the first quote that is out of place or stays open."""
    lines = np.flatnonzero(text == LINE)
    for fault in (_misplaced, _open):
        span = _spans(np.searchsorted(lines, quotes))
        faults = fault(span, _begins(text, quotes, delimiter), _doubles(quotes))
        seen = np.cumsum(faults)
        quotes = quotes[seen == (seen - faults)[span[0]]]
    return quotes


def _spans(line: Places) -> Places:
    """The place of the first quote on the line of each, and of the first after it."""
    first = np.flatnonzero(np.diff(line, prepend=-1))
    count = np.diff(first, append=len(line))
    return np.repeat([first, first + count], count, axis=1)


def _opens(span: Places) -> Marks:
    """Every other quote of each line, beginning with its first."""
    return (np.arange(span.shape[1]) - span[0]) % 2 == 0


def _misplaced(span: Places, begins: Marks, doubles: Marks) -> Marks:
    """Which quotes neither open a quoted part nor belong to one."""
    return _opens(span) & ~(begins | doubles)


def _open(span: Places, begins: Marks, doubles: Marks) -> Marks:
    """Which quotes open a part that their line does not close: the last to open one where their number is odd."""
    opening = _opens(span) & begins
    later = np.cumsum(opening)
    return opening & ((span[1] - span[0]) % 2 == 1) & (later == later[span[1] - 1])
