"""What can go wrong between parties, as a small tree.

    ProtocolError
    ├── Malformed           bytes that are no such message, or one that is too long
    ├── BadSignature        not signed by whom it names
    ├── UnknownParty        a name that is not on the roster
    ├── OutOfOrder          another round, an earlier or later step, or the same step again
    ├── RoundReused         a round that this party took part in already
    ├── Disagreement        parties that do not see the same run
    ├── WrongShares         shares that are too few, doubled, foreign or not of one polynomial
    ├── TooFewReports       fewer reports than the least batch
    └── TooFewSurvivors     fewer parties than the threshold are left

All derive from `DiscreetError`; a message that is refused leaves the one who refuses as it was.
"""

from __future__ import annotations

from discreet.core.errors import DiscreetError

UNOPENED = "Nothing was opened."


class ProtocolError(DiscreetError):
    """A step of a protocol that is refused."""


class Malformed(ProtocolError):
    """These bytes are not such a message."""


class BadSignature(ProtocolError):
    """The message was not signed, or not sealed, by whom it names."""


class UnknownParty(ProtocolError):
    """Nobody of this name takes part."""


class OutOfOrder(ProtocolError):
    """The message belongs to another round or step, or came before."""


class RoundReused(ProtocolError):
    """A round is run once."""


class Disagreement(ProtocolError):
    """The parties were not shown the same run."""


class WrongShares(ProtocolError):
    """These shares do not give a secret."""


class TooFewReports(ProtocolError):
    """A batch is opened whole, and not before it is large enough."""


class TooFewSurvivors(ProtocolError):
    """Too few are left: the sum would show too much of each, or cannot be unmasked."""
