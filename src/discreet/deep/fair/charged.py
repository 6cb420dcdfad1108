"""Pay for a whole plan, then train, then say what was made."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from torch import nn

from discreet.accounting.price import price
from discreet.core.bits import Bits
from discreet.core.errors import DiscreetError
from discreet.core.events import Event, written
from discreet.core.ledger import Ledger, Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import Receipt
from discreet.deep.digest import digest
from discreet.trust.permit import KEPT


@dataclass(frozen=True)
class Payer:
    """An account, with the relation and the unit that it speaks of and the bits that keep its promise."""

    ledger: Ledger
    neighbors: Neighbors
    unit: Unit
    bits: Bits

    @contextmanager
    def charged(self, event: Event, purpose: str, model: nn.Module | None = None) -> Iterator[PaidCharge]:
        """Charge an event, and commit it at the end of the block with its result, or a digest of the model."""
        charge = self.ledger.reserve(event, purpose, request=f"{purpose}\n{written(event)}")
        assert isinstance(charge, Reservation)  # its key is fresh
        paid = PaidCharge(self, event, purpose, charge)
        try:
            yield paid
        except DiscreetError as error:
            error.settle(KEPT)
            raise
        self.ledger.commit(charge, paid.result if model is None else digest(model.state_dict()))


@dataclass
class PaidCharge:
    """A charge that was made."""

    payer: Payer
    event: Event
    purpose: str
    charge: Reservation
    result: bytes = b""

    @property
    def receipt(self) -> Receipt:
        """What it cost."""
        cost, payer = price(self.event, self.payer.ledger.budget), self.payer
        return Receipt(
            self.purpose,
            self.event,
            cost.epsilon,
            cost.delta,
            payer.neighbors,
            payer.unit,
            payer.bits.secret,
            self.charge.key,
            self.charge.head,
        )
