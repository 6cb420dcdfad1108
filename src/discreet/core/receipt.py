"""The receipt that comes with every release: what was paid, for whom, under which promise."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

from discreet.core.checkpoint import Checkpoint
from discreet.core.errors import ParameterError
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    DiscreteLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    RenyiLoss,
    Repeated,
    Sampled,
    read,
    written,
)
from discreet.core.neighbors import Neighbors, Unit
from discreet.display.notebook import carded, facts
from discreet.display.plain import plain

RELATIONS = {
    Neighbors.ADD_REMOVE: "added or removed, and the number of units is secret",
    Neighbors.REPLACE: "replaced, and the number of units is public",
}


def in_words(event: Event) -> str:
    """What an event is, for a reader.

    Examples
    --------
    >>> in_words(Repeated(GaussianLoss(14.3325), 10))
    '10 x (Gaussian noise, 14.33 sensitivities)'
    >>> in_words(Composed((PureLoss(1.0), PureLoss(0.5), PureLoss(0.5))))
    'epsilon 1 + 2 x (epsilon 0.5)'
    """
    match event:
        case PureLoss(epsilon):
            return f"epsilon {epsilon:.4g}"
        case ApproximateLoss(0.0, delta):
            return f"a failure with chance {delta:.3g}"
        case ApproximateLoss(epsilon, delta):
            return f"epsilon {epsilon:.4g} and delta {delta:.3g}"
        case GaussianLoss(multiplier):
            return f"Gaussian noise, {multiplier:.4g} sensitivities"
        case LaplaceLoss(multiplier):
            return f"Laplace noise, {multiplier:.4g} sensitivities"
        case ConcentratedLoss(rho):
            return f"concentrated, rho {rho:.4g}"
        case RenyiLoss(orders, values):
            pure = f", epsilon {values[-1]:.4g}" if math.isinf(orders[-1]) else ""
            return f"a Renyi curve of {len(orders)} orders{pure}"
        case DiscreteLoss(step, remove, add) if remove.infinity == add.infinity == 0:
            greatest = max(table.first + len(table.probabilities) - 1 for table in (remove, add)) * step
            return f"epsilon {greatest:.4g}, and mostly less (tabulated)"
        case DiscreteLoss(_, remove, add):
            return f"a loss tabulated at {len(remove.probabilities)} and {len(add.probabilities)} points"
        case Repeated(inner, times):
            return in_words(inner) if times == 1 else f"{times} x ({in_words(inner)})"
        case Composed(events):
            runs = [(part, len(list(run))) for part, run in groupby(events)]
            return " + ".join(in_words(Repeated(part, times)) for part, times in runs) or "nothing"
        case Sampled(inner, rate, scheme):
            kind = scheme.replace("_", "-").replace("poisson", "Poisson")
            return f"({in_words(inner)}) on a {kind} sample of {rate:.3g}"
        case Parallel(events):
            return "the dearest of: " + "; ".join(dict.fromkeys(in_words(part) for part in events))
        case NoPromise(reason):
            return f"no promise ({reason})"
        case _:
            return str(event)


@dataclass(frozen=True)
class Participants:
    """Whose records are in a sum, or in all sums of a plan, of several parties.

    Parameters
    ----------
    parties : tuple of str
        Who was in it.
    apart : tuple of str
        Who was in it and not in an earlier answer from these parties, or the other way round: the difference of two
        such answers shows the noisy sum of these alone.
    """

    parties: tuple[str, ...]
    apart: tuple[str, ...] = ()

    def __and__(self, other: Participants) -> Participants:
        """Who was in both, and who is apart in either."""
        both = tuple(name for name in self.parties if name in other.parties)
        return Participants(both, tuple(sorted({*self.apart, *other.apart})))

    def __str__(self) -> str:
        shown = f"; beside other answers, this one shows the noisy sum of {', '.join(self.apart)} alone"
        return plain(", ".join(self.parties) + (shown if self.apart else ""))


def stated(
    neighbors: Neighbors, unit: Unit, secret: bool, participants: Participants | None = None, where: str | None = None
) -> dict[str, Any]:
    """What a receipt says beyond the charge itself, as a ledger keeps it with the result."""
    who = participants and {"parties": [*participants.parties], "apart": [*participants.apart]}
    about = {"secret": secret, "participants": who, "where": where}
    return {"neighbors": neighbors.value, "unit": {**unit.__dict__}, **about}


@dataclass(frozen=True)
class Receipt:
    """What one plan cost and what it promises.

    Parameters
    ----------
    purpose : str
        What was asked.
    event : Event
        What was released, as the ledger has it.
    epsilon, delta : float
        What that costs: delta 0, or the account's; epsilon infinite where nothing is promised.
    neighbors : Neighbors
        Which data sets look alike.
    unit : Unit
        Whose presence is hidden.
    secret : bool
        Whether the noise was secret. If not, the release is not private, whatever the event says.
    key, head : str
        The charge's key and the ledger's head after it.
    replayed : bool
        Whether the release was paid for earlier and cost nothing now.
    participants : Participants, optional
        Who was in the sums, where several parties have the records.
    where : str, optional
        The condition that the records had to fulfil.
    checkpoint : Checkpoint, optional
        The signature of whoever keeps the ledger.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> receipt = Receipt("mean of age", PureLoss(0.5), 0.5, 0.0, Neighbors.ADD_REMOVE, Unit(), True, "k", "")
    >>> receipt.cost
    'epsilon 0.5, delta 0'
    >>> Receipt.read(receipt.to_json()) == receipt
    True
    """

    purpose: str
    event: Event
    epsilon: float
    delta: float
    neighbors: Neighbors
    unit: Unit
    secret: bool
    key: str
    head: str
    replayed: bool = False
    participants: Participants | None = None
    where: str | None = None
    checkpoint: Checkpoint | None = None

    @property
    def cost(self) -> str:
        """Epsilon and delta in words."""
        if math.isinf(self.epsilon):
            return "no promise"
        return f"epsilon {self.epsilon:.6g}, delta {self.delta:.3g}" + (" (paid earlier)" if self.replayed else "")

    @property
    def among(self) -> str:
        """Which records were asked about, to be put behind what was asked: nothing, if all."""
        return "" if self.where is None else f" where {self.where}"

    def lines(self) -> dict[str, str]:
        """The receipt as words."""
        noise = "secret, from the operating system" if self.secret else "NOT SECRET: this release is NOT PRIVATE"
        rows = "" if self.unit.is_row else f" ({self.unit.limit})"
        return {
            "purpose": self.purpose,
            "cost": self.cost,
            "released": in_words(self.event),
            "protects": f"one {self.unit.kind}{rows} that is {RELATIONS[self.neighbors]}",
            **({} if self.unit.loss is None else {"left out": self.unit.loss}),
            "noise": noise,
            "ledger": f"key {self.key}, head {self.head[:16] or 'none'}",
            **({} if self.participants is None else {"parties": str(self.participants)}),
            **({} if self.checkpoint is None else {"signed": f"by {self.checkpoint.signer}"}),
        }

    @property
    def stated(self) -> dict[str, Any]:
        """What it says beyond the charge itself, as a ledger keeps it with the result."""
        return stated(self.neighbors, self.unit, self.secret, self.participants, self.where)

    def as_stated(self, kept: Mapping[str, Any]) -> Receipt:
        """The same charge, with what the ledger kept with its result."""
        return replace(self, **_parsed(kept))

    def signed(self, checkpoint: Checkpoint) -> Receipt:
        """The same charge with its checkpoint: its purpose and its price as they were when it was paid."""
        epsilon = math.inf if checkpoint.epsilon is None else checkpoint.epsilon
        purpose, delta = checkpoint.purpose, checkpoint.delta
        return replace(self, purpose=purpose, epsilon=epsilon, delta=delta, checkpoint=checkpoint)

    def to_dict(self) -> dict[str, Any]:
        """The receipt as plain numbers, texts and lists."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__} | self.stated
        plain["event"] = json.loads(written(self.event))
        signed = plain.pop("checkpoint")
        return plain if signed is None else {**plain, "checkpoint": {**vars(signed)}}

    def to_json(self) -> str:
        """The same as JSON; an infinite epsilon is null."""
        plain = self.to_dict()
        return json.dumps(plain | {"epsilon": None if math.isinf(self.epsilon) else self.epsilon}, allow_nan=False)

    @classmethod
    def read(cls, text: str) -> Receipt:
        """The receipt whose JSON this is.

        Raises
        ------
        ParameterError
            It is not the JSON of a receipt.
        """
        try:
            plain = json.loads(text)
            epsilon = math.inf if plain["epsilon"] is None else plain["epsilon"]
            signed = plain.get("checkpoint")
            parts = {"event": read(json.dumps(plain["event"])), "epsilon": epsilon} | _parsed(plain)
            return cls(**plain | parts | {"checkpoint": signed and Checkpoint(**signed)})
        except (ValueError, KeyError, TypeError, AttributeError) as why:
            raise ParameterError("read a receipt", f"this is not the JSON of one ({why})", "", "") from why

    def __str__(self) -> str:
        return "\n".join(f"{name:>9}: {plain(text)}" for name, text in self.lines().items())

    def _repr_html_(self) -> str:
        return carded(facts(self.lines()))


def _parsed(plain: Mapping[str, Any]) -> dict[str, Any]:
    """What is stated, from its plain form."""
    who = plain["participants"]
    return {
        "neighbors": Neighbors(plain["neighbors"]),
        "unit": Unit(**plain["unit"]),
        "secret": plain["secret"],
        "participants": who and Participants(tuple(who["parties"]), tuple(who["apart"])),
        "where": plain["where"],
    }
