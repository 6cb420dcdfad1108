"""A curator in a process of its own: it answers as a curator does, and nothing that it says changes a charge."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import EngineFailure
from discreet.core.grid import Array
from discreet.core.neighbors import RECORD, Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.schema.schema import Number, Schema, Text
from discreet.statistics.moments.mean import mean
from discreet.statistics.ranks.quantile import median
from discreet.statistics.tables.key_counts import key_counts
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from discreet.trust.stored import Stored
from discreet.trust.worker.records_place import RecordsPlace
from discreet.trust.worker.worker_line import RestingLine, WorkerLine
from discreet.trust.worker.worker_process import public_facts, released
from discreet.trust.worker.worker_trust import WorkerTrust
from tests.trust import trial
from tests.trust.trial import TrustTrial

PLAIN = {"WorkerTrust": "it prints no text of its own; schemas show theirs without control characters"}
SCHEMA = Schema({"age": Number(0, 100), "town": Text()})


class NearLine(RestingLine):
    """A worker in this process, with bits that are given."""

    def __init__(self, rows: Array, bits: Bits) -> None:
        place = RecordsPlace("rows", None, trial.SCHEMA, Neighbors.ADD_REMOVE, RECORD)
        self.__dict__["curator"] = Curator(Matrix(rows, trial.SCHEMA), bits=bits)
        super().__init__(place, {**public_facts(self.__dict__["curator"]), "walls": "process"})

    def ask(self, lists: Any, question: Any, mechanism: Any) -> bytes:
        return released(self.__dict__["curator"], lists, question, mechanism)


TRIAL = TrustTrial(lambda rows, bits: WorkerTrust(NearLine(rows, bits)))


def place(folder: Path, rows: int = 500) -> RecordsPlace:
    towns = "\n".join(f"{40 + row % 3},{'Ulm' if row % 2 else 'Bonn'}" for row in range(rows))
    (folder / "people.csv").write_text(f"age,town\n{towns}\n")
    return RecordsPlace("people", str(folder / "people.csv"), SCHEMA, Neighbors.ADD_REMOVE, RECORD)


@pytest.fixture(scope="module")
def line(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WorkerLine]:
    one = WorkerLine(place(tmp_path_factory.mktemp("worker")))
    yield one
    one.close()


def behind(line: Any) -> PrivateData:
    return PrivateData(WorkerTrust(line), MemoryLedger(Budget(1000.0, 1e-3), Neighbors.ADD_REMOVE, RECORD))


def test_it_answers_sums_ranks_and_texts_as_a_curator_does(line: WorkerLine) -> None:
    data = behind(line)
    assert abs(mean(data, "age", epsilon=20.0).value - 41) < 0.5
    assert abs(median(data, "age", epsilon=20.0).value - 41) < 1.5
    assert {*key_counts(data, "town", epsilon=20.0, delta=1e-6).tabulated().labels["town"]} == {"Ulm", "Bonn"}
    assert abs(mean(data.where("age >= 42"), "age", epsilon=20.0).value - 42) < 0.5


def test_the_process_has_neither_network_nor_programs(line: WorkerLine) -> None:
    assert line.start()["walls"] in ("full", "process")
    status = Path(f"/proc/{line.process_id}/status").read_text()
    assert line.facts["walls"] == "process" or "Seccomp:\t2" in status


def test_a_worker_that_is_killed_charges_once_and_is_started_again(line: WorkerLine) -> None:
    data = behind(line)
    line.start()
    there = line._line
    assert there is not None
    send = there.send

    def killed(message: bytes) -> None:
        os.kill(line.process_id or 0, signal.SIGKILL)
        send(message)

    there.send = killed  # type: ignore[method-assign]
    with pytest.raises(EngineFailure, match="same key goes on"):
        mean(data, "age", epsilon=1.0, key="k")
    spent = data.ledger.balance().certified
    assert abs(mean(data, "age", epsilon=1.0, key="k").value - 41) < 20
    assert data.ledger.balance().certified == spent


class Liar(RestingLine):
    """Says what it is told to say in place of a release."""

    said: bytes

    def ask(self, lists: Any, question: Any, mechanism: Any) -> bytes:
        return self.said


def test_a_worker_that_lies_changes_no_charge(line: WorkerLine) -> None:
    lies = [b"", b"{", b"[]", b'{"releases": [], "artefact": null}', Stored([("", "text")]).written(), b"\x80\x04."]
    lies += [Stored([("", np.zeros(99))]).written(), b'{"releases": [["", {"array": "gASV"}]], "artefact": null}']
    for lie in lies:
        liar = Liar(line.place, {"units": 3})
        object.__setattr__(liar, "said", lie)
        data = behind(liar)
        with pytest.raises(EngineFailure, match="did not answer"):
            mean(data, "age", epsilon=1.0)
        assert data.ledger.balance().certified == pytest.approx(1.0, rel=1e-6)
        assert (data.public_size, WorkerTrust(liar).units) == (None, None)


def test_records_that_cannot_be_opened_are_refused_before_a_charge(tmp_path: Path) -> None:
    gone = RecordsPlace("gone", str(tmp_path / "gone.csv"), SCHEMA, Neighbors.ADD_REMOVE, RECORD)
    line = WorkerLine(gone)
    data = behind(line)
    with pytest.raises(EngineFailure, match="cannot be opened") as refused:
        mean(data, "age", epsilon=1.0)
    assert "gone.csv" not in str(refused.value)
    assert "gone.csv" in line.trouble
    assert data.ledger.balance().certified == 0
    line.close()


def test_the_process_ends_with_its_line(tmp_path: Path) -> None:
    line = WorkerLine(place(tmp_path, 10))
    line.start()
    process = line.process_id
    assert process is not None
    line.close()
    for _ in range(200):
        if not Path(f"/proc/{process}").exists():
            break
        time.sleep(0.05)
    assert not Path(f"/proc/{process}").exists()
    with pytest.raises(EngineFailure):
        line.start()
