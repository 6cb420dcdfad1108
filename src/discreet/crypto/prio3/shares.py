"""What senders and aggregators of Prio3 hand on: rows of bytes, one for each report."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from discreet.core.bits import Bits
from discreet.crypto.errors import Malformed
from discreet.crypto.fields.prime_field import Bytes
from discreet.crypto.prio3.proof import Mask

NONCE = 16  # bytes


@dataclass(frozen=True)
class Sharded:
    """Reports as their senders make them: what all aggregators see, and what each of them alone does.

    Parameters
    ----------
    public : Bytes
        A row for each report.
    inputs : list of Bytes
        For each aggregator, a row for each report.
    """

    public: Bytes
    inputs: list[Bytes] = field(repr=False)


@dataclass(frozen=True)
class Verification:
    """What an aggregator knows of reports before they are accepted: its shares, and what it tells the others.

    Parameters
    ----------
    measurements : Bytes
        Its shares of the measurements: secret.
    seeds : Bytes
        The joint randomness as it computed it; no columns where there is none.
    usable : mask
        Which reports could be read and tested at all.
    verifiers : Bytes
        Its verifier shares, for the other aggregators.
    """

    measurements: Bytes = field(repr=False)
    seeds: Bytes = field(repr=False)
    usable: Mask
    verifiers: Bytes = field(repr=False)


@dataclass(frozen=True)
class Decision:
    """What the verifier shares of all aggregators say.

    Parameters
    ----------
    messages : Bytes
        For each report, the joint randomness seed that all must have used; no columns where there is none.
    accepted : mask
        Which reports are proved to be in range.
    """

    messages: Bytes
    accepted: Mask


def check_rows(what: str, given: Bytes, width: int, many: int) -> None:
    """Refuse bytes of another shape than is due; what they are is not told."""
    if given.dtype != np.uint8 or given.shape != (many, width):
        raise Malformed(what, f"their shape is {given.shape}", f"Send {many} rows of {width} bytes.")


def random_bytes(bits: Bits, many: int, width: int) -> Bytes:
    """Random rows of bytes, which stay what they are when more is drawn."""
    each = -(-width // 8)
    words = np.asarray(bits.words(many * each), dtype="<u8")
    return words.view(np.uint8).reshape(many, 8 * each)[:, :width].copy()
