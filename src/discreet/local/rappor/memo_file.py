"""Permanent responses that are drawn once and kept in a file of the client."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.ledger.file_lock import locked
from discreet.ledger.own_file import read_own, replace_own
from discreet.local.rappor.bloom import BitRows
from discreet.local.rappor.parameters import RapporParameters
from discreet.local.rappor.permanent import randomized
from discreet.noise.system_bits import system_bits

FORMAT = 1
LONGEST = 2**28  # bytes of a file
UNREPORTED = "Nothing was reported."


@dataclass(frozen=True)
class MemoFile:
    """Draws a response once for each Bloom filter and keeps it, as google/rappor does in memory.

    A response that was given once is never drawn again: a file that is damaged, or was written for other parameters, is
    refused and not replaced. The file is secret, since it tells which values were reported.

    Parameters
    ----------
    path : str or Path
        Of the file; made where there is none.
    bits : Bits, optional
        Where randomness comes from; the operating system's where not given.

    Examples
    --------
    >>> import tempfile
    >>> bloom = np.zeros(16, np.uint8)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     memo = MemoFile(Path(folder, "memo.json"))
    ...     first, again = (memo.permanent(RapporParameters(bits=16), bloom) for _ in range(2))
    >>> bool((first == again).all())
    True
    """

    path: str | Path
    bits: Bits | None = None

    def permanent(self, setup: RapporParameters, bloom: BitRows) -> BitRows:
        """The response of one filter: the one in the file, or a new one that is in the file before it is used."""
        path, name = Path(self.path).resolve(), np.packbits(bloom).tobytes().hex()
        with locked(path.with_name(f"{path.name}.lock")):
            responses = self._read(path, setup)
            if name not in responses:
                fresh = randomized(setup, bloom[None], system_bits() if self.bits is None else self.bits)
                responses[name] = np.packbits(fresh[0]).tobytes().hex()
                self._write(path, setup, responses)
        return np.unpackbits(np.frombuffer(bytes.fromhex(responses[name]), np.uint8), count=setup.bits)

    def _read(self, path: Path, setup: RapporParameters) -> dict[str, str]:
        if not path.exists():
            return {}
        data = read_own(path, f"RAPPOR memo {path}", 1, LONGEST, UNREPORTED)
        try:
            document = json.loads(data)
            body, digest = document["body"], document["sha256"]
        except (ValueError, KeyError, TypeError) as why:
            raise self._refused(f"it is not a file of permanent responses ({why})") from why
        if digest != _digest(body):
            raise self._refused("it was damaged or edited")
        if body["format"] != FORMAT or body["parameters"] != _plain(setup):
            raise self._refused(f"it was written for {body['parameters']}")
        return dict(body["responses"])

    def _write(self, path: Path, setup: RapporParameters, responses: dict[str, str]) -> None:
        body = {"format": FORMAT, "parameters": _plain(setup), "responses": responses}
        replace_own(path, json.dumps({"body": body, "sha256": _digest(body)}).encode())

    def _refused(self, obstacle: str) -> ParameterError:
        remedy = "Restore the file, or use another for other parameters; a second response would cost as much again."
        return ParameterError(f"RAPPOR memo {self.path}", obstacle, remedy, UNREPORTED)


def _digest(body: Any) -> str:
    return hashlib.sha256(json.dumps(body, sort_keys=True).encode()).hexdigest()


def _plain(setup: RapporParameters) -> dict[str, float]:
    return {one.name: getattr(setup, one.name) for one in fields(RapporParameters)}
