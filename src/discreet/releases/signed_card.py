"""A privacy card with the signature of whoever made the release."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Self

from discreet.core.errors import DiscreetError, ParameterError
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import framed
from discreet.display.plain import plain
from discreet.releases.card_page import page
from discreet.releases.privacy_card import ASKED, LONGEST, PrivacyCard

PURPOSE = b"discreet privacy card 1"


@dataclass(frozen=True)
class SignedCard:
    """A privacy card, who signed it, and the signature (Ed25519).

    Parameters
    ----------
    card : PrivacyCard
        What is stated.
    by : str
        Who states it, by a name that a roster knows.
    signature : bytes
        Of the card and the name.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.core.neighbors import RECORD, Neighbors
    >>> from discreet.noise.system_bits import system_bits
    >>> card = PrivacyCard(about="mean of age", kind="release", event=PureLoss(0.5), epsilon=0.5, delta=0.0,
    ...     neighbors=Neighbors.ADD_REMOVE, unit=RECORD)
    >>> hospital = Identity.drawn("hospital", system_bits())
    >>> signed = SignedCard.of(card, hospital)
    >>> SignedCard.read(signed.to_json(), Roster.of([hospital])).card == card
    True
    """

    card: PrivacyCard
    by: str
    signature: bytes

    @classmethod
    def of(cls, card: PrivacyCard, identity: Identity) -> Self:
        """The card under the signature of an identity."""
        return cls(card, identity.name, identity.sign(_stated(card, identity.name)))

    def verify(self, roster: Roster) -> None:
        """Refuse a card that this name did not sign, by the key that the roster has for it."""
        roster.verify(self.by, _stated(self.card, self.by), self.signature)
        self.card.check_price()

    def to_json(self) -> str:
        """The card as JSON, with its signature."""
        signed = {"by": self.by, "signature": self.signature.hex()}
        return json.dumps(self.card.to_dict() | {"signed": signed}, indent=1, allow_nan=False, ensure_ascii=False)

    @classmethod
    def read(cls, text: str, roster: Roster) -> Self:
        """The card whose JSON this is, once it is sure who signed it.

        Raises
        ------
        BadSignature
            Somebody else signed it, or it was changed.
        UnknownParty
            The roster does not have the name.
        ParameterError
            It is not the JSON of a signed card, or it states less than its event costs.
        """
        try:
            if len(text) > LONGEST:
                raise ValueError(f"it has more than {LONGEST} letters")
            stated = json.loads(text)
            signed = stated.pop("signed")
            found = cls(PrivacyCard.of_dict(stated), str(signed["by"]), bytes.fromhex(signed["signature"]))
        except DiscreetError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as why:
            raise ParameterError(ASKED, f"this is not the JSON of a signed one ({plain(str(why))[:80]})", "") from why
        found.verify(roster)
        return found

    def to_html(self) -> str:
        """The card as a page of its own, with the signature below."""
        return page(self.card, {"signed by": self.by, "signature": self.signature.hex()})

    def __str__(self) -> str:
        return f"{self.card}\n  signed by {plain(self.by)}"

    def _repr_html_(self) -> str:
        return self.card._repr_html_()


def _stated(card: PrivacyCard, name: str) -> bytes:
    """What is signed: the card with its fields in order, and the name, in this library's frame of the purpose."""
    stated = json.dumps(card.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
    return framed(PURPOSE, name.encode(), stated.encode())
