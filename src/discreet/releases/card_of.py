"""The privacy card of anything that has a receipt, or of an account."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.ledger import Balance, Entry
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import Receipt
from discreet.releases.privacy_card import ASKED, NO_EVENT, PrivacyCard, described
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData


def privacy_card(made: Any, data: PrivateData | None = None) -> PrivacyCard:
    """The privacy card of a result, a table, a model, a report, or of the account of a data set.

    Parameters
    ----------
    made : Release, learner, Report, or PrivateData
        What the card is of: anything with a receipt, or the data set itself.
    data : PrivateData, optional
        What it was made from: then the card says what is public of the columns, and how the account stands.

    Returns
    -------
    PrivacyCard
        It prints, becomes JSON or a page, and can be signed: see `SignedCard`.

    Examples
    --------
    >>> import discreet
    >>> data = discreet.PrivateData.of([[30.0]] * 500, {"age": (0, 110)}, discreet.Budget(1.0))
    >>> found = discreet.count(data, epsilon=0.25)
    >>> card = privacy_card(found, data)
    >>> round(card.epsilon, 6), dict(card.public), card.balance.certified == card.epsilon
    (0.25, {'age': '0 to 110'}, True)
    >>> privacy_card(data).kind
    'account'
    """
    if isinstance(made, PrivateData):
        ledger = made.ledger
        return account_card(made.schema, made.neighbors, made.unit, ledger.balance(), ledger.entries())
    receipt = getattr(made, "receipt", None) or getattr(made, "receipt_", None)
    if not isinstance(receipt, Receipt):
        raise ParameterError(ASKED, "it has no receipt", "Give a result, a fitted learner, a report or private data.")
    schema, balance = (None, None) if data is None else (data.schema, data.ledger.balance())
    return PrivacyCard.of(receipt, kind_of(made), schema, balance)


def account_card(
    schema: Schema, neighbors: Neighbors, unit: Unit, balance: Balance, entries: Sequence[Entry]
) -> PrivacyCard:
    """The card of all that was ever paid from an account, from what is public of the data and from its charges."""
    return PrivacyCard(
        about="all releases of this data set",
        kind="account",
        event=NO_EVENT,
        epsilon=balance.certified,
        delta=balance.budget.delta,
        neighbors=neighbors,
        unit=unit,
        secret=all(entry.secret for entry in entries),
        together=True,
        head=entries[-1].head if entries else "",
        public=described(schema),
        facts={"charges": str(len(entries))},
        balance=balance,
    )


def kind_of(made: Any) -> str:
    """What something is to its reader."""
    if hasattr(made, "receipt_"):
        return "model"
    if hasattr(made, "edges") and hasattr(made, "nodes"):
        return "network"
    return "table" if hasattr(made, "records") else "release"
