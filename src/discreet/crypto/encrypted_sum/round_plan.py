"""What a round of an encrypted sum will cost each party, before anybody begins."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.crypto.encrypted_sum.encrypted_sum import EncryptedTerms
from discreet.crypto.paillier.proven_array import CHALLENGE, SEED
from discreet.crypto.paillier.public_key import DIGIT, PROOF
from discreet.crypto.paillier.work_plan import HEAD, SQUARINGS, WorkPlan, product_seconds, products_of_power


@dataclass(frozen=True)
class RoundPlan:
    """One party's round, counted beforehand; seconds of one core of this machine, right within a factor of about two.

    Parameters
    ----------
    sealed : WorkPlan
        Public. Its vector, encrypted, with its proof.
    opened : WorkPlan
        Public. Its part of the decryption, once it has checked what all have sealed.
    received : int
        Public. Bytes of what all have sealed.
    """

    sealed: WorkPlan
    opened: WorkPlan
    received: int

    def __str__(self) -> str:
        return f"sealed: {self.sealed}\nopened: {self.opened}, from {self.received / 1e6:.3g} MB of all parties"


def plan_round(terms: EncryptedTerms) -> RoundPlan:
    """What a party sends and computes on these terms.

    Parameters
    ----------
    terms : EncryptedTerms
        Public.
    """
    key, public, count = terms.held, terms.held.public, terms.ciphertexts
    each, exponent, parties = product_seconds(public.key_bits), public.exponent_bits + PROOF, len(terms.parties)
    proof = SEED + (public.key_bits + exponent) // 8
    size = count * public.size + HEAD
    sealing = (count + 1) * products_of_power(count + 1, exponent, DIGIT)
    checking = parties * (products_of_power(parties, exponent, DIGIT) + count * SQUARINGS * CHALLENGE)
    part = count * SQUARINGS * (key.mask_bits - CHALLENGE)
    proving = SQUARINGS * 2 * (key.mask_bits + (count - 1) * CHALLENGE)
    return RoundPlan(
        WorkPlan(count, size + proof, sealing * each),
        WorkPlan(count, size + (CHALLENGE + key.mask_bits) // 8, (checking + part + proving) * each),
        parties * (size + proof),
    )
