"""Edges in a file of text: one in each line, whatever separates its ends.

How a line is read depends on that line and on the public nodes alone. Each way to divide it is tried in turn; the first
that leaves two nodes in front is taken, and a line for which none does is no edge, such as a header or a comment.
"""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.schema.schema import Schema
from discreet.trust.sources.columns.decoding import objects
from discreet.trust.sources.edge_list import places_of

ASKED = "graph"
BLANKS = " "
SEPARATORS = ",;\t" + BLANKS
MARKS = {codecs.BOM_UTF8: "utf-8", codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}


def read_edges(path: Path, schema: Schema) -> NDArray[Any]:
    """The two ends of each edge in a file, as they are written.

    Parameters
    ----------
    path : Path
        A text, which may be compressed (.gz). Ends are separated by a comma, a semicolon, a tab or blanks, and may
        stand in quotes; what follows them is not read.
    schema : Schema
        Public. That of the graph: the nodes.
    """
    left = _lines(path)
    found = [np.empty((0, 2), dtype=object)]
    for separator in SEPARATORS:
        ends = [_ends(line, separator) for line in left]
        tried = [place for place, two in enumerate(ends) if two is not None]
        pairs = objects([end for place in tried for end in ends[place] or ()]).reshape(-1, 2)
        is_edge = (places_of(pairs, schema) >= 0).all(axis=1)
        found.append(pairs[is_edge])
        taken = set(np.array(tried, dtype=np.intp)[is_edge].tolist())
        left = [line for place, line in enumerate(left) if place not in taken]
    return np.concatenate(found)


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        raise ParameterError(ASKED, f"there is no file {path}", "Give the path of a list of edges.")
    try:
        data = gzip.decompress(path.read_bytes()) if path.suffix == ".gz" else path.read_bytes()
    except (OSError, EOFError, zlib.error) as why:
        raise ParameterError(ASKED, f"{path} cannot be read ({type(why).__name__})", "Check the file.") from None
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    return re.split(r"\r\n|\r|\n", data[len(mark) :].decode(MARKS.get(mark, "utf-8"), errors="replace"))


def _ends(line: str, separator: str) -> tuple[str, str] | None:
    """The first two fields of a line; None where there are fewer.

    Examples
    --------
    >>> _ends('"Lee, Ann",Bob,2020', ","), _ends("Ann Lee; Bob", ";"), _ends("7  8", BLANKS), _ends("7 8", ",")
    (('Lee, Ann', 'Bob'), ('Ann Lee', ' Bob'), ('7', '8'), None)
    """
    if '"' not in line:
        fields = line.split(None if separator == BLANKS else separator, 2)
    else:
        try:
            fields = next(csv.reader([line], delimiter=separator, skipinitialspace=True), [])
        except csv.Error:  # too long
            fields = []
    return (fields[0], fields[1]) if len(fields) > 1 else None
