"""Parties as processes of this machine: for examples, tests and measurements."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.held import unheld
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.encrypted_sum.encrypted_sum import KeyHolder
from discreet.crypto.identity import Identity
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.system_bits import system_bits
from discreet.query.federation_file import written_federation
from discreet.schema.schema import Schema
from discreet.service.key_file import write_identity, write_secret_key
from discreet.trust.federation import Federation
from discreet.trust.schemes.sum_scheme import scheme_named
from discreet.trust.secure_sum import SecureSum

START = 180.0  # seconds that a party may take to start on a busy machine


@unheld("releases")
class LocalParty:
    """A process that runs `discreet party` on this machine.

    Parameters
    ----------
    name : str
        The party's.
    command : sequence of str
        What to run, without the address.
    ledger : path
        Its account.
    log : path
        Where what it prints goes.
    """

    def __init__(self, name: str, command: Sequence[str], ledger: Path, log: Path) -> None:
        self.name, self.ledger, self._command, self._log = name, ledger, tuple(command), log
        self.address = "127.0.0.1:0"
        self.process = self._started()

    def restart(self) -> None:
        """Start the process again, at the same address."""
        self.kill()
        self.process = self._started()
        self.wait()

    def wait(self) -> None:
        """Wait until it listens, and learn where."""
        deadline = time.monotonic() + START
        while " listens at " not in self.said:
            if self.process.poll() is not None or time.monotonic() > deadline:
                obstacle = f"{self.name} did not start ({self.said.strip() or 'it said nothing'})"
                raise DiscreetError("local parties", obstacle, "Correct that.")
            time.sleep(0.02)
        self.address = self.said.partition(" listens at ")[2].partition("\n")[0]

    @property
    def said(self) -> str:
        """What it has printed since it was started."""
        whole, end, _ = self._log.read_text(encoding="utf-8", errors="replace").rpartition("\n")
        return whole + end

    def kill(self) -> None:
        """End the process at once, as a power cut would."""
        self.process.kill()
        self.process.wait()

    def _started(self) -> subprocess.Popen[bytes]:
        with open(self._log, "wb") as log:
            return subprocess.Popen([*self._command, "--listen", self.address], stdout=log, stderr=log)


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
    scheme: str = "masks",
    largest: int | None = None,
    packages: Sequence[str] = (),
    flags: Sequence[str] = (),
    patience: float = 60.0,
) -> Iterator[LocalParties]:
    """Start one process per file, each with an identity and a ledger of its own, and end them with the block.

    Keys and ledgers lie in a temporary folder of the owner's alone, which goes with the block. Where the scheme needs a
    dealer, it is this process.

    Parameters
    ----------
    files : mapping of str to path
        Each party's name and table.
    schema, threshold, colluding, unit, neighbors, scheme, largest
        Public. See `Federation`.
    budget : Budget
        Public. The cap of each party's account.
    packages : sequence of str
        Public. Whose recipes the parties use, besides this one's.
    flags : sequence of str
        Public. What else is on the command line of every party, such as its policy; see `discreet party --help`.
    patience : float
        Public. See `SecureSum`.
    """
    server, *identities = (Identity.drawn(name, system_bits()) for name in ("server", *files))
    cards = tuple(PartyCertificate.of(one) for one in identities)
    agreed = (cards, PartyCertificate.of(server), threshold, schema, unit, neighbors)
    dealt = scheme_named(scheme).setup(identities, threshold, system_bits())
    federation = Federation(*agreed, colluding, scheme, largest, key=dealt.key)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="discreet-")))
        (folder / "federation.toml").write_text(written_federation(federation), encoding="utf-8")
        parties = LocalParties()
        for number, one in enumerate(dealt.identities):
            ledger = folder / f"{number}.ledger"
            SqliteLedger.create(ledger, budget, name=one.name, neighbors=neighbors, unit=unit).close()
            write_identity(folder / f"{number}.key", one)
            command = [*_command(folder, number, files[one.name], packages), "--scheme", scheme, *flags]
            if isinstance(one, KeyHolder):
                write_secret_key(folder / f"{number}.share", one.dealt)
                command += ["--share", str(folder / f"{number}.share")]
            parties[one.name] = LocalParty(one.name, command, ledger, folder / f"{number}.log")
            stack.callback(parties[one.name].kill)
        for party in parties.values():
            party.wait()
        addresses = [one.address for one in parties.values()]
        parties.trust = stack.enter_context(SecureSum(federation, server, addresses, patience=patience))
        yield parties


def _command(folder: Path, number: int, file: str | Path, packages: Sequence[str]) -> list[str]:
    command = [sys.executable, "-m", "discreet", "party", str(file), "--federation", str(folder / "federation.toml")]
    command += ["--identity", str(folder / f"{number}.key"), "--ledger", str(folder / f"{number}.ledger")]
    return command + [word for package in packages for word in ("--package", package)]
