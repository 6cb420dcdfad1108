"""RAPPOR clients: they report the same value many times and give away no more than its permanent response."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Iterator, Sequence

import numpy as np

from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.local.randomizer import DEVICE_EPSILON, Reports
from discreet.local.rappor.permanent_memo import PermanentMemo, SecretMemo, check_secret, derived
from discreet.local.rappor.rappor import Rappor, blooms_of, instantaneous
from discreet.local.rappor.rappor_parameters import bloom_positions, bloom_rows
from discreet.noise.system_bits import system_bits

BLOCK = 1 << 14  # clients at a time


def cohort_from(secret: bytes, cohorts: int) -> int:
    """The cohort of a client: the first four bytes of HMAC-SHA256(secret, ""), lowest first, modulo their number.

    As google/rappor's C++ client, which needs a power of two.

    Examples
    --------
    >>> cohort_from(b"client-secret", 128)
    3
    """
    return int.from_bytes(hmac.digest(secret, b"", "sha256")[:4], "little") % cohorts


class RapporClient:
    """One person's device.

    Parameters
    ----------
    rappor : Rappor
        Public. What is agreed with the collector.
    memo : SecretMemo, GoogleMemo or MemoFile
        Where permanent responses come from. It must not change: a second permanent response of the same value costs as
        much again as the first.
    cohort : int, optional
        Public. Derived from the secret where not given; it must not change either, nor depend on the value.
    budget : float
        Public. What all reports of one value may cost together: the owner's choice and not the collector's.

    Examples
    --------
    >>> client = RapporClient(Rappor(), SecretMemo(b"from a secure source"))
    >>> client.report("example.org").shape, client.cohort
    ((18,), 5)
    """

    def __init__(
        self, rappor: Rappor, memo: PermanentMemo, cohort: int | None = None, budget: float = DEVICE_EPSILON
    ) -> None:
        if cohort is None:
            if not isinstance(memo, SecretMemo):
                obstacle = "there is no secret to derive a cohort from"
                raise ParameterError("RAPPOR client", obstacle, "Give the cohort that was drawn once.")
            cohort = cohort_from(memo.secret, rappor.cohorts)
        check_whole("RAPPOR client", "cohort", cohort, 0, rappor.cohorts - 1)
        check_positive("RAPPOR client", "budget", budget)
        check_price(rappor, budget)
        self.rappor, self.memo, self.cohort = rappor, memo, int(cohort)

    def report(self, value: str, bits: Bits | None = None) -> Reports:
        """A report of the value: the permanent response of its filter, randomised afresh.

        What is no text is answered by a report of a random one: silence would tell.
        """
        bits = system_bits() if bits is None else bits
        text = self.rappor.stand_in(bits) if self.rappor.read(value) is None else value
        bloom = bloom_rows(self.rappor, np.array([bloom_positions(self.rappor, text, self.cohort)]))
        permanent = self.memo.permanent(self.rappor, bloom[0])
        return self.rappor.packed(np.array([self.cohort]), instantaneous(self.rappor, permanent[None], bits))[0]

    def message(self, value: str) -> bytes:
        """What is sent to the collector."""
        return self.rappor.encode(self.report(value))


def check_price(rappor: Rappor, budget: float) -> None:
    """Refuse parameters under which reports of one value, however many, cost more than this together."""
    if rappor.epsilon_infinity > budget:
        obstacle = (
            f"f is {rappor.f}: reports of one value cost epsilon {rappor.epsilon_infinity:g} together,"
            f" and the device pays {budget:g} at most"
        )
        raise ParameterError(
            "RAPPOR client",
            obstacle,
            "Agree on a larger f or fewer hashes, or give a larger budget, if that is what the owner wants.",
            "Nothing was reported.",
            epsilon=rappor.epsilon_infinity,
        )


def client_reports(
    rappor: Rappor,
    values: Sequence[str],
    secrets: Sequence[bytes],
    bits: Bits | None = None,
    metric: bytes = b"",
    budget: float = DEVICE_EPSILON,
) -> Iterator[Reports]:
    """What many clients report, each with a secret of its own: blocks of reports, for simulations and batches.

    The budget is that of each client, as for `RapporClient`.

    Examples
    --------
    >>> blocks = client_reports(Rappor(), ["cat", "dog"], [b"a first secret, random", b"a second secret, random"])
    >>> [block.shape for block in blocks]
    [(2, 18)]
    """
    check_price(rappor, budget)
    bits = system_bits() if bits is None else bits
    for start in range(0, len(values), BLOCK):
        part = slice(start, start + BLOCK)
        check_secret(min(secrets[part], key=len))
        cohorts = np.array([cohort_from(secret, rappor.cohorts) for secret in secrets[part]], np.int64)
        blooms = blooms_of(rappor, values[part], cohorts)
        yield rappor.packed(cohorts, instantaneous(rappor, derived(rappor, blooms, secrets[part], metric), bits))


def client_secret(master: bytes, client: str) -> bytes:
    """A secret for each of many clients that are played by one program: HMAC-SHA256(master, client).

    Examples
    --------
    >>> len(client_secret(b"a master secret, drawn once", "client 1"))
    32
    """
    check_secret(master)
    return hmac.digest(master, client.encode(), hashlib.sha256)
