"""The test vectors of draft-irtf-cfrg-vdaf-20 (appendix C, and the repository of the draft), as its files have them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from discreet.crypto.fields.limb_field import FIELD64
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.circuit import Circuit
from discreet.crypto.prio3.circuits import (
    CountCircuit,
    HistogramCircuit,
    MultihotCountVecCircuit,
    SumCircuit,
    SumVecCircuit,
)
from discreet.crypto.prio3.prio3 import Prio3

FOLDER = Path(__file__).parent / "vectors"
FILES = sorted(path.stem for path in FOLDER.glob("Prio3*.json"))
CIRCUITS: dict[str, Callable[[dict[str, Any]], Circuit]] = {
    "Count": lambda d: CountCircuit(),
    "Sum": lambda d: SumCircuit(most=d["max_measurement"]),
    "SumVec": lambda d: SumVecCircuit(length=d["length"], chunk=d["chunk_length"], most=d["max_measurement"]),
    "SumVecWithMultiproof": lambda d: SumVecCircuit(FIELD64, 3, d["length"], d["chunk_length"], d["max_measurement"]),
    "Histogram": lambda d: HistogramCircuit(length=d["length"], chunk=d["chunk_length"]),
    "MultihotCountVec": lambda d: MultihotCountVecCircuit(
        length=d["length"], chunk=d["chunk_length"], weight=d["max_weight"]
    ),
}


class Vector:
    """One file: its algorithm, and its reports `copies` times over."""

    def __init__(self, name: str, copies: int = 1) -> None:
        self.given: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
        self.reports = self.given["reports"] * copies
        circuit = CIRCUITS[name.split("_")[0].removeprefix("Prio3")](self.given)
        self.vdaf = Prio3(circuit, self.given["shares"], bytes.fromhex(self.given["ctx"]))
        self.key = bytes.fromhex(self.given["verify_key"])
        self.expected = {
            (one["operation"], one.get("aggregator_id")): one["success"] for one in self.given["operations"]
        }

    def rows(self, of: Callable[[dict[str, Any]], str]) -> Bytes:
        """A row of bytes for each report."""
        return np.stack([np.frombuffer(bytes.fromhex(of(one)), np.uint8) for one in self.reports])

    @property
    def measurements(self) -> list[Any]:
        return [one["measurement"] for one in self.reports]
