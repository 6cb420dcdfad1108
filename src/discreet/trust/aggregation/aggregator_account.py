"""An aggregator's own account and noise: what it owes to every device, whoever the others are."""

from __future__ import annotations

from dataclasses import dataclass, field

from discreet.core.bits import Bits
from discreet.core.errors import BudgetExceeded, ParameterError, UncommittedCharge
from discreet.core.grid import Steps
from discreet.core.ledger import Ledger
from discreet.core.neighbors import RECORD
from discreet.core.receipt import in_words
from discreet.crypto.errors import RoundReused
from discreet.trust.aggregation.aggregation_task import NEIGHBORS, AggregationTask
from discreet.trust.holder import Described
from discreet.trust.party import RoundAccount


@dataclass(frozen=True)
class AggregatorAccount:
    """Who pays for the one batch of a task, and where its noise comes from.

    Parameters
    ----------
    number : int
        Public. 0 for the leader.
    task : AggregationTask
        Public. What all agreed on.
    ledger : Ledger, optional
        Its account; without one it leaves the account to whoever asks.
    bits : Bits
        Where its noise comes from.
    """

    number: int
    task: AggregationTask
    ledger: Ledger | None
    bits: Bits = field(repr=False)

    def __post_init__(self) -> None:
        ledger = self.ledger
        if ledger is not None and (ledger.neighbors, ledger.unit) not in ((NEIGHBORS, RECORD), (None, None)):
            obstacle = "its ledger was opened for another relation or unit"
            raise ParameterError("aggregator", obstacle, "Open one for replaced records.")

    @property
    def purpose(self) -> str:
        """What is asked and promised, in words."""
        return f"aggregation of {self.task.recipe.name} with {in_words(self.task.event)}"

    def check_affords(self) -> None:
        """Refuse a task that the account cannot pay for."""
        if self.ledger is not None and not self.ledger.affords(self.task.event):
            asked = f"aggregator {self.number}: {self.purpose}"
            raise BudgetExceeded(asked, "its account cannot pay", "Ask with more noise, or open another account.")

    def noise(self) -> Steps:
        """All of the noise: the other aggregators may have added none."""
        return self.task.share.masked(self.task.blank, self.bits)

    def pay(self, about: str = "") -> None:
        """Charge the account, under the name of the task, once.

        Parameters
        ----------
        about : str
            Public. What else is paid for: a second charge is refused, and one about something else as well.
        """
        if self.ledger is None:
            return
        account = RoundAccount(self.ledger, NEIGHBORS, RECORD, self.bits.secret)
        plan = Described(self.task.event, f"{self.task.digest.hex()} {self.purpose}{about}")
        account.permit(plan, self.purpose, key=f"round {self.task.name}").commit(b"")

    def pay_for(self, share: str) -> None:
        """Charge the account for a share that is kept and may leave again, unless it was paid for before.

        Parameters
        ----------
        share : str
            Public. A digest of it: the charge of another share of the same task is refused (`KeyReused`).
        """
        try:
            self.pay(f" share {share}")
        except (RoundReused, UncommittedCharge):
            return  # the same share was charged before a crash, and the charge stays
