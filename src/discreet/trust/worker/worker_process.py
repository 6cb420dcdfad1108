"""The process that holds the records of one data set: it answers questions on its line, and ends with it.

It takes questions from the process that started it and from nobody else, draws the noise, and sends the release. It
knows no ledger, no price and nobody who asks; what it says of itself changes no charge. Before the first question it
gives up what it does not need (`WorkerWalls`).
"""

from __future__ import annotations

import json
import os
import pickle
import signal
import socket
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from discreet.core.errors import DiscreetError, EngineFailure
from discreet.core.garbage import collect_seldom
from discreet.core.neighbors import Neighbors
from discreet.schema.schema import Category
from discreet.trust.curator import Curator
from discreet.trust.sources.file import files_at
from discreet.trust.sources.rows_in_memory import RowsInMemory
from discreet.trust.sources.source import Batched, Source
from discreet.trust.sources.source_of import source_of
from discreet.trust.stored import Stored
from discreet.trust.worker.framed_line import FramedLine
from discreet.trust.worker.records_place import RecordsPlace
from discreet.trust.worker.worker_walls import raise_walls

ANSWERED, FAILED = b"a", b"f"
THREADS = 4
SMALL = 2**26  # bytes of files whose records are kept in memory


def main(descriptor: int) -> None:
    """Open the records, say what is public about them, and answer until the line ends."""
    line = FramedLine(socket.socket(fileno=descriptor))
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # a terminal's interrupt is for the server, which ends the line
    told = line.receive()
    if told is None:
        return
    place: RecordsPlace = pickle.loads(told)
    try:
        curator = opened(place)
        line.send(json.dumps({**public_facts(curator), "walls": raise_walls()}).encode())
    except DiscreetError as why:  # of the place itself: such as a file that is not there
        line.send(json.dumps({"failed": str(why)}).encode())
        return
    except Exception as why:
        line.send(json.dumps({"failed": f"the records cannot be opened ({type(why).__name__})"}).encode())
        return
    collect_seldom()
    _serve(line, curator)
    os._exit(0)  # the server is gone: nobody will take what threads still compute


def opened(place: RecordsPlace) -> Curator:
    """The curator of the records."""
    source = source_of(place.source, place.schema, place.unit)
    source.check_ready()
    return Curator(in_memory(source, place), place.neighbors)


def in_memory(source: Source, place: RecordsPlace) -> Source:
    """The same records kept in memory, where their files are small: many questions will be asked of them."""
    small = isinstance(place.source, str) and sum(path.stat().st_size for path in files_at(place.source)) <= SMALL
    if not small or place.unit.pooled or not isinstance(source, Batched):
        return source
    kept = RowsInMemory(source)
    kept.reopened = source.reopened
    return kept


def public_facts(curator: Curator) -> dict[str, Any]:
    """What those who ask may know of the source: whether it hands over records, and their number where it is public."""
    units = curator.units if curator.neighbors is Neighbors.REPLACE and curator.unit.is_row else None
    return {
        "units": None if units is None else int(units),
        "curated": curator.curated,
        "secret": curator.secret,
        "rereads": curator.rereads,
        "shows_all_rows": curator.shows_all_rows,
    }


def _serve(line: FramedLine, curator: Curator) -> None:
    with ThreadPoolExecutor(THREADS) as threads:
        while (message := line.receive()) is not None:
            threads.submit(_answer, line, curator, message)
        threads.shutdown(wait=False, cancel_futures=True)


def _answer(line: FramedLine, curator: Curator, message: bytes) -> None:
    """Send the release; where there is none, that alone: what an error says could depend on a record."""
    number, asked = message[:8], message[8:]
    try:
        line.send(number + ANSWERED + released(curator, *map(pickle.loads, pickle.loads(asked))))
    except BaseException:
        line.send(number + FAILED)


def released(curator: Curator, lists: dict[str, Category], question: Any, mechanism: Any) -> bytes:
    """The release of a question by a mechanism, in the form in which ledgers keep it."""
    holder = curator.listing(lists) if lists else curator
    return Stored([("", holder.ask(question, mechanism))]).written()


def unanswered(name: str) -> EngineFailure:
    """The one error for whatever goes wrong in a worker."""
    return EngineFailure(
        f"records of {name}",
        "the process that holds them did not answer",
        "Ask the same again with the same key; if it happens again, tell the curator.",
    )
