"""Parties as processes of this machine: for examples, tests and measurements."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from discreet.accounting.sqlite_ledger import SqliteLedger
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.schema import Schema
from discreet.crypto.certificate import Card
from discreet.crypto.identity import Identity
from discreet.noise.bits import system_bits
from discreet.query.federation_file import written_federation
from discreet.service.party_command import write_identity
from discreet.trust.federation import Federation
from discreet.trust.secure_sum import SecureSum

START = 60.0  # seconds that a party may take to start


class LocalParty:
    """A process that runs `discreet party` on this machine.

    Parameters
    ----------
    name : str
        The party's.
    process : subprocess.Popen
        Its process.
    address : str
        Where it listens.
    """

    def __init__(self, name: str, process: subprocess.Popen[bytes], address: str) -> None:
        self.name, self.process, self.address = name, process, address

    def kill(self) -> None:
        """End the process at once, as a power cut would."""
        self.process.kill()
        self.process.wait()


class LocalParties(dict[str, LocalParty]):
    """Parties by name, and the secure sum that asks them."""

    trust: SecureSum


@contextlib.contextmanager
def local_parties(
    files: Mapping[str, str | Path],
    schema: Schema,
    budget: Budget,
    *,
    threshold: int,
    colluding: int = 0,
    unit: Unit = RECORD,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    packages: Iterable[str] = (),
    patience: float = 60.0,
) -> Iterator[LocalParties]:
    """Start one process per file, each with an identity and a ledger of its own, and end them with the block.

    Keys and ledgers lie in a temporary folder of the owner's alone, which goes with the block.

    Parameters
    ----------
    files : mapping of str to path
        Each party's name and table.
    schema, threshold, colluding, unit, neighbors
        Public. See `Federation`.
    budget : Budget
        Public. The cap of each party's account.
    packages : iterable of str
        Public. Whose recipes the parties use, besides this one's.
    patience : float
        Public. See `SecureSum`.
    """
    server, *identities = (Identity.drawn(name, system_bits()) for name in ("server", *files))
    cards = tuple(Card.of(one) for one in identities)
    federation = Federation(cards, Card.of(server), threshold, schema, unit, neighbors, colluding)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="discreet-")))
        (folder / "federation.toml").write_text(written_federation(federation), encoding="utf-8")
        processes = {}
        for one in identities:
            write_identity(folder / f"{one.name}.key", one)
            ledger = folder / f"{one.name}.ledger"
            SqliteLedger.create(ledger, budget, name=one.name, neighbors=neighbors, unit=unit).close()
            process = _started(folder, one.name, files[one.name], packages)
            processes[one.name] = stack.enter_context(_ending(process))
        parties = LocalParties(
            {name: LocalParty(name, one, _address(one, folder / f"{name}.log")) for name, one in processes.items()}
        )
        addresses = [one.address for one in parties.values()]
        parties.trust = stack.enter_context(SecureSum(federation, server, addresses, patience=patience))
        yield parties


def _started(folder: Path, name: str, file: str | Path, packages: Iterable[str]) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "discreet", "party", str(file)]
    command += ["--federation", str(folder / "federation.toml"), "--identity", str(folder / f"{name}.key")]
    command += ["--ledger", str(folder / f"{name}.ledger"), "--listen", "127.0.0.1:0"]
    command += [word for package in packages for word in ("--package", package)]
    with open(folder / f"{name}.log", "wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


@contextlib.contextmanager
def _ending(process: subprocess.Popen[bytes]) -> Iterator[subprocess.Popen[bytes]]:
    with process:
        try:
            yield process
        finally:
            process.kill()


def _address(process: subprocess.Popen[bytes], log: Path) -> str:
    """Where the party listens: the first line that it prints."""
    deadline = time.monotonic() + START
    while time.monotonic() < deadline:
        words = log.read_text(encoding="utf-8", errors="replace")
        _, said, rest = words.partition(" listens at ")
        if said and "\n" in rest:
            return rest.partition("\n")[0]
        if process.poll() is not None:
            break
        time.sleep(0.02)
    raise DiscreetError("local parties", f"one did not start ({words.strip() or 'it said nothing'})", "Correct that.")
