"""Pay for a whole plan, then make it, then say what was made: where records are not behind `PrivateData`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from discreet.accounting.price import price
from discreet.core.bits import Bits
from discreet.core.errors import DiscreetError
from discreet.core.events import Event, written
from discreet.core.ledger import Ledger, Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import Receipt, stated
from discreet.ledger.admission import check_relation
from discreet.trust.permit import KEPT


@dataclass(frozen=True)
class Payer:
    """An account, with the relation and the unit that it speaks of and the bits that keep its promise."""

    ledger: Ledger
    neighbors: Neighbors
    unit: Unit
    bits: Bits

    @contextmanager
    def charged(self, event: Event, purpose: str) -> Iterator[PaidCharge]:
        """Charge an event, and commit it at the end of the block with its result."""
        check_relation(event, self.neighbors, purpose)
        request = f"{purpose}\n{written(event)}"
        charge = self.ledger.reserve(event, purpose, request=request, secret=self.bits.secret)
        assert isinstance(charge, Reservation)  # its key is fresh
        paid = PaidCharge(self, event, purpose, charge)
        try:
            yield paid
        except DiscreetError as error:
            error.settle(KEPT)
            raise
        self.ledger.commit(charge, paid.result, stated(self.neighbors, self.unit, self.bits.secret))


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
