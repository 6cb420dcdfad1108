"""Keys that two parties have in common after each has announced a fresh one, signed for this round."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import sha256
from types import MappingProxyType

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.crypto.derivation import KEY, KeyUse, Purpose, derived_key
from discreet.crypto.errors import UNOPENED, BadSignature, Disagreement, Malformed, UnknownParty
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, Signed, framed, split
from discreet.crypto.rounds.terms import Terms
from discreet.crypto.sharing.shamir import packed

NONCE = 12  # bytes
FIELD = 2**255 - 19
SMALL_ORDER = {0, 1, FIELD - 1} | {
    0x00B8495F16056286FDB1329CEB8D09DA6AC49FF1FAE35616AEB8413B7C7AEBE0,
    0x57119FD0DD4E22D8868E1C58C45C44045BEF839C55B1D0B1248C50A3BC959C5F,
}
"""The points of Curve25519 that every private key takes to zero (RFC 7748, section 6.1)."""
PIECES = packed(bytes(KEY)).size  # field elements in a shared seed or key


def drawn_bytes(bits: Bits) -> bytes:
    """A fresh secret of 32 bytes."""
    return bits.integer(8 * KEY).to_bytes(KEY, "big")


@dataclass(frozen=True)
class PublicKeys:
    """The two X25519 keys that a party announces in a round: one for masks, one for sealing."""

    mask: bytes
    seal: bytes

    def announced(self, identity: Identity, terms: Terms) -> Signed:
        """The announcement, signed for these terms: this round, these parties, this threshold."""
        body = framed(terms.digest, self.mask, self.seal)
        return Message(terms.round, identity.name, "keys", body).signed(identity)

    @classmethod
    def of(cls, message: Message, terms: Terms) -> PublicKeys:
        """The keys that a verified announcement holds."""
        digest, mask, seal = split(message.body, 3)
        if digest != terms.digest:
            raise Disagreement(
                f"keys of {message.sender!r}",
                "they were signed for other terms",
                "Let all have the same parties, threshold and size.",
                UNOPENED,
            )
        if mask == seal or not (is_sound(mask) and is_sound(seal)):
            obstacle = f"they are not two keys of {KEY} bytes and of a large order"
            raise Malformed(f"keys of {message.sender!r}", obstacle, "Leave their owner out.", UNOPENED)
        return cls(mask, seal)


@dataclass(frozen=True, repr=False)
class SecretKeys:
    """The private halves, 32 bytes each. That for masks is shared among the parties, in case its owner drops out."""

    mask: bytes
    seal: bytes

    @classmethod
    def drawn(cls, bits: Bits) -> SecretKeys:
        return cls(drawn_bytes(bits), drawn_bytes(bits))

    @property
    def public(self) -> PublicKeys:
        return PublicKeys(public_half(self.mask), public_half(self.seal))

    @cached_property
    def masking(self) -> X25519PrivateKey:
        """That for masks, read once for many agreements."""
        return X25519PrivateKey.from_private_bytes(self.mask)

    @cached_property
    def sealing(self) -> X25519PrivateKey:
        """That for sealing."""
        return X25519PrivateKey.from_private_bytes(self.seal)


def public_half(secret: bytes) -> bytes:
    """The public key of an X25519 private key."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def is_sound(public: bytes) -> bool:
    """Whether this is an X25519 key in its usual form, with which two can agree on a secret."""
    point = int.from_bytes(public, "little")
    return len(public) == KEY and point < FIELD and point not in SMALL_ORDER


def exchanged(secret: bytes | X25519PrivateKey, public: bytes) -> bytes:
    """What the owner of `secret` and the owner of `public` alone can compute (RFC 7748)."""
    try:
        own = X25519PrivateKey.from_private_bytes(secret) if isinstance(secret, bytes) else secret
        return own.exchange(X25519PublicKey.from_public_bytes(public))
    except ValueError as why:
        raise Malformed("key agreement", "the public key is a weak one", "Leave its owner out.", UNOPENED) from why


@dataclass(frozen=True)
class AnnouncedKeys:
    """Whose keys were announced in a round, in the eyes of one party.

    Every key is derived from the transcript too: two parties that were shown different announcements have no key in
    common.

    Parameters
    ----------
    terms : Terms
        Public. What all agreed on beforehand.
    keys : mapping of str to PublicKeys
        Public. The announced keys.
    """

    terms: Terms
    keys: Mapping[str, PublicKeys]
    transcript: bytes = field(init=False, repr=False)

    def __post_init__(self) -> None:
        keys = {name: self.keys[name] for name in self.terms.parties if name in self.keys}
        if len({half for one in keys.values() for half in (one.mask, one.seal)}) < 2 * len(keys):
            raise Disagreement("keys", "two parties announced the same one", "Leave them out.", UNOPENED)
        seen = framed(*(part for name, one in keys.items() for part in (name.encode(), one.mask, one.seal)))
        object.__setattr__(self, "keys", MappingProxyType(keys))
        object.__setattr__(self, "transcript", sha256(framed(self.terms.digest, seen)).digest())

    def use(self, purpose: Purpose, first: str, second: str) -> KeyUse:
        """What a key is for, among these announced keys."""
        return KeyUse(self.terms.round, first, second, purpose, self.transcript)

    def self_key(self, owner: str, seed: bytes) -> bytes:
        return derived_key(seed, self.use("self mask", owner, owner))

    def commitment(self, owner: str, seed: bytes) -> bytes:
        """A commitment to a seed: it shows later whether a seed is the right one, and before that nothing."""
        return derived_key(seed, self.use("commitment", owner, owner))

    def pair_key(self, owner: str, secret: bytes | X25519PrivateKey, peer: str) -> bytes:
        """The key of the mask that two parties have in common; both derive the same."""
        first, second = sorted((owner, peer))
        return derived_key(exchanged(secret, self._of(peer).mask), self.use("pair mask", first, second))

    def sealed(self, bits: Bits, sender: str, secret: bytes | X25519PrivateKey, receiver: str, content: bytes) -> bytes:
        """The content for one receiver: AES-256-GCM under a key of this sender, receiver and announcement alone."""
        use = self.use("seal", sender, receiver)
        nonce = bits.integer(8 * NONCE).to_bytes(NONCE, "big")
        key = derived_key(exchanged(secret, self._of(receiver).seal), use)
        return nonce + AESGCM(key).encrypt(nonce, content, use.info)

    def unsealed(self, sender: str, secret: bytes | X25519PrivateKey, receiver: str, box: bytes) -> bytes:
        """What a sender sealed for the receiver who has this secret."""
        use = self.use("seal", sender, receiver)
        key = derived_key(exchanged(secret, self._of(sender).seal), use)
        try:
            return AESGCM(key).decrypt(box[:NONCE], box[NONCE:], use.info)
        except (InvalidTag, ValueError) as why:
            raise BadSignature(
                f"sealed shares of {sender!r}",
                f"they were not sealed by them for {receiver!r} in this run",
                "Begin a new round; leave them out if it happens again.",
                UNOPENED,
                name=sender,
            ) from why

    def _of(self, name: str) -> PublicKeys:
        if name not in self.keys:
            raise UnknownParty(
                f"round {self.terms.round!r}", f"{name!r} has announced no keys", "", UNOPENED, name=name
            )
        return self.keys[name]


def check_roster(identity: Identity, terms: Terms, roster: Roster) -> None:
    """Refuse a roster that lacks someone, or has another key for this identity."""
    for name in (*terms.parties, terms.server):
        roster.check_lists(name)
    if roster.keys[identity.name] != identity.public:
        raise ParameterError("roster", f"it has another key for {identity.name!r}", "Give everybody the same roster.")


def ordered(terms: Terms, names: Iterable[str]) -> list[str]:
    """Names in the order of the terms."""
    among = set(names)
    return [name for name in terms.parties if name in among]
