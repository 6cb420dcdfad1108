"""Verified vectors whose parties also commit to their numbers, so that each can show its own later, and no others."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from discreet.core.answer import Answer
from discreet.core.mechanism import Share
from discreet.crypto.odo.commitments import check_installed
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.rounds.terms import Terms
from discreet.trust.schemes.odo_vector import OdoVector


@dataclass(frozen=True)
class OdoCommitted(OdoVector):
    """As `OdoVector`, with a Pedersen commitment to each number (`crypto/odo/odo.md`, part 11).

    What for: a party that must account for its part, to a regulator or a court, shows it to them alone, and they check
    it against the transcript of the round. What it costs: a quarter of a millisecond and 32 bytes a number, in public,
    and shares of 8 bytes. The commitments show nothing.
    """

    name: ClassVar[str] = "odo-committed"
    protocol: ClassVar[bytes] = b"discreet committed vectors 1"
    hides: ClassVar[str] = OdoVector.hides[:-1] + "; each party can show its own numbers later, and no others."

    def terms(self, terms: Terms, share: Share, largest: int, empty: Answer) -> OdoTerms:
        check_installed()
        return dataclasses.replace(super().terms(terms, share, largest, empty), committed=True)
