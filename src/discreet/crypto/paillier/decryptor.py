"""A holder's part in a decryption, and how the parts of enough holders open what was announced, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from numpy.typing import NDArray

from discreet.core.bits import Bits
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed, TooFewSurvivors, WrongShares
from discreet.crypto.identity import check_name
from discreet.crypto.messages import framed, split, text
from discreet.crypto.paillier.big_integers import Big, big, gmp
from discreet.crypto.paillier.decryption_proof import DecryptionProof
from discreet.crypto.paillier.encrypted_array import EncryptedArray
from discreet.crypto.paillier.public_key import MOST, read, written
from discreet.crypto.paillier.threshold_key import KeyShare, ThresholdKey
from discreet.crypto.rounds.terms import UsedRounds
from discreet.noise.system_bits import system_bits

ASKED = "partial decryption"
VERSION = b"discreet paillier partial decryption 1"


@dataclass(frozen=True)
class PartialDecryption:
    """What one holder gives towards the opening of one array, with a proof.

    Parameters
    ----------
    session : str
        Public. In which it was announced.
    giver : str
        Public. Whose it is.
    parts : tuple of int
        Public. Each ciphertext to twice the holder's exponent.
    proof : DecryptionProof
        Public. That it is so.
    """

    session: str
    giver: str
    parts: tuple[Big, ...] = field(repr=False)
    proof: DecryptionProof = field(repr=False)

    def to_bytes(self, key: ThresholdKey) -> bytes:
        """The form in which it travels, with a version."""
        size = key.public.size
        parts = b"".join(int(part).to_bytes(size, "big") for part in self.parts)
        numbers = (written(self.proof.challenge), written(self.proof.answer))
        return framed(VERSION, self.session.encode(), self.giver.encode(), parts, *numbers)

    @classmethod
    def from_bytes(cls, data: bytes, key: ThresholdKey) -> PartialDecryption:
        """What was given, if its numbers can be such parts. Its proof is another matter: see `check_partial`."""
        version, session, giver, body, challenge, answer = split(data, 6)
        size, most = key.public.size, 2 * MOST
        if version != VERSION or len(body) % size:
            raise Malformed(ASKED, "it has another version or length, or is none", "Ask for it again.", UNOPENED)
        parts = [big(int.from_bytes(body[at : at + size], "big")) for at in range(0, len(body), size)]
        key.public.check_units(ASKED, parts)
        return cls(text(session), text(giver), tuple(parts), DecryptionProof(read(challenge, most), read(answer, most)))


class Decryptor(Held):
    """A holder who gives its part in each session once, and only of the array that was announced in it.

    A holder that opens whatever it is asked to protects nobody: what was announced is checked before, as
    `crypto.encrypted_sum` does. Sessions are remembered as long as the process lasts.

    Parameters
    ----------
    share : KeyShare
        Its share.
    rounds : UsedRounds, optional
        The sessions it has taken part in.
    bits : Bits, optional
        Where the masks of proofs come from; the operating system's where not given.
    """

    def __init__(self, share: KeyShare, rounds: UsedRounds | None = None, bits: Bits | None = None) -> None:
        self._share, self._rounds, self._bits = share, rounds or UsedRounds(), bits or system_bits()

    @exclusive
    def partial(self, session: str, announced: EncryptedArray) -> PartialDecryption:
        """The holder's part of what was announced in a session."""
        key, square = self._share.key, self._share.key.public.square
        check_name("session", session)
        _check_key(key, announced)
        self._rounds.claim(session)
        exponent = 2 * self._share.exponent
        parts = tuple(gmp().powmod(one, exponent, square) for one in announced.ciphertexts)
        proof = DecryptionProof.made(self._share, about(session, announced), announced.ciphertexts, parts, self._bits)
        return PartialDecryption(session, self._share.name, parts, proof)

    def __repr__(self) -> str:
        return f"Decryptor({self._share!r})"


def about(session: str, announced: EncryptedArray) -> bytes:
    """A session and what was announced in it, in 32 bytes: every proof hangs on it."""
    return sha256(framed(session.encode(), announced.to_bytes())).digest()


def check_partial(key: ThresholdKey, session: str, announced: EncryptedArray, given: PartialDecryption) -> None:
    """Refuse what a holder gives, by name, if it is not its part of what was announced."""
    _check_key(key, announced)
    key.index(given.giver)
    if given.session != session:
        raise _wrong(given, f"it belongs to session {given.session!r} and not to {session!r}")
    if len(given.parts) != len(announced.ciphertexts):
        raise _wrong(given, f"it has {len(given.parts)} parts for {len(announced.ciphertexts)} ciphertexts")
    if not given.proof.holds(key, given.giver, about(session, announced), announced.ciphertexts, given.parts):
        raise _wrong(given, "its proof fails")


def opened(
    key: ThresholdKey, session: str, announced: EncryptedArray, given: Iterable[PartialDecryption]
) -> NDArray[Any]:
    """The numbers of what was announced, by the parts of enough holders, each of which is checked.

    Raises
    ------
    WrongShares
        A part is not what it should be; its giver is named.
    TooFewSurvivors
        Fewer holders than the threshold have given parts.
    """
    every = list(given)
    for one in every:
        check_partial(key, session, announced, one)
    return combined(key, announced, every)


def combined(key: ThresholdKey, announced: EncryptedArray, given: Sequence[PartialDecryption]) -> NDArray[Any]:
    """The numbers, by parts that were checked."""
    own = {one.giver: one for one in given}
    if len(own) < len(given):
        raise WrongShares(ASKED, "a holder has given two parts", "Take one of each.", UNOPENED)
    if len(own) < key.threshold:
        raise TooFewSurvivors(
            ASKED,
            f"{len(own)} holders have given their parts and {key.threshold} are needed",
            "Wait for more.",
            UNOPENED,
            count=len(own),
            threshold=key.threshold,
        )
    chosen = sorted((key.index(name), one) for name, one in own.items())[: key.threshold]
    indices = [index for index, _ in chosen]
    weights = [2 * key.lagrange(indices, index) for index in indices]
    rows = zip(*(one.parts for _, one in chosen), strict=True)
    return announced.opened([_plain(key, parts, weights) for parts in rows])


def _plain(key: ThresholdKey, parts: Sequence[Big], weights: Sequence[int]) -> Big | None:
    """The plaintext: the product of all parts to their weights is 1 + 4 n!**2 m n modulo n**2."""
    square, modulus, found = key.public.square, key.public.modulus, big(1)
    for part, weight in zip(parts, weights, strict=True):
        found = found * gmp().powmod(part, weight, square) % square
    shown, rest = gmp().f_divmod(found - 1, modulus)
    plain = shown * gmp().invert(4 * key.factor**2, modulus) % modulus
    return None if rest else plain


def _check_key(key: ThresholdKey, announced: EncryptedArray) -> None:
    if announced.key.digest != key.public.digest:
        raise Malformed(ASKED, "what was announced is under another key", "Encrypt it under this one.", UNOPENED)


def _wrong(given: PartialDecryption, obstacle: str) -> WrongShares:
    asked = f"partial decryption of {given.giver!r}"
    return WrongShares(asked, obstacle, "Go on without it.", UNOPENED, name=given.giver)
