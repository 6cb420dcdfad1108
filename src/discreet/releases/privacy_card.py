"""A privacy card: what a release, a table, a model or a whole account promises, whom, and what it does not protect."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from types import MappingProxyType
from typing import Any, Self

from discreet.accounting.accountant import epsilon_interval
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.events import Composed, Event, read, written
from discreet.core.ledger import Balance
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import RELATIONS, Receipt, in_words
from discreet.display.notebook import carded, facts
from discreet.display.plain import plain
from discreet.releases.card_page import page
from discreet.schema.schema import Schema

FORMAT = 1
ASKED = "privacy card"
LONGEST = 2**22  # letters of a card
KINDS = ("release", "table", "model", "network", "account")
CLOSE = 1e-9  # of an epsilon that is computed again
NO_EVENT: Event = Composed(())
PATTERNS = (
    "Facts that hold for the table as a whole, such as a common link between two columns, remain visible: privacy "
    "hides individuals, not patterns."
)
OTHERS = "Other releases about the same people add to this loss unless they are charged to the same ledger."


@dataclass(frozen=True, kw_only=True)
class PrivacyCard:
    """What somebody who relies on a release has to know of its privacy, and nothing that is secret.

    Parameters
    ----------
    about : str
        What it is the card of.
    kind : {"release", "table", "model", "network", "account"}
        What that is.
    event : Event
        What was released, as the ledger has it.
    epsilon, delta : float
        What that costs; epsilon infinite where nothing is promised.
    neighbors : Neighbors
        Which data sets look alike.
    unit : Unit
        Whose presence is hidden.
    secret : bool
        Whether the noise was secret. If not, nothing is private, whatever the event says.
    together : bool
        Whether epsilon and delta are those of everything that the account has paid, and not of this release alone.
    key, head : str
        The charge's key, and the ledger's head after it.
    public : mapping of str to str
        What the schema says of columns, from whoever wrote it and not from the data.
    facts : mapping of str to str
        What else there is to say, such as errors, or the steps of a training run.
    balance : Balance, optional
        How the account stood when the card was made.
    versions : mapping of str to str
        The software that made the release.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.core.neighbors import RECORD
    >>> card = PrivacyCard(about="mean of age", kind="release", event=PureLoss(0.5), epsilon=0.5, delta=0.0,
    ...     neighbors=Neighbors.ADD_REMOVE, unit=RECORD, versions={"discreet": "1.0"})
    >>> print(card)
          of  mean of age (release)
        cost  epsilon 0.5 at delta 0
    released  epsilon 0.5
    protects  one record that is added or removed, and the number of units is secret
       noise  secret, from the operating system
    versions  discreet 1.0
    >>> PrivacyCard.read(card.to_json()) == card
    True
    """

    about: str
    kind: str
    event: Event
    epsilon: float
    delta: float
    neighbors: Neighbors
    unit: Unit
    secret: bool = True
    together: bool = False
    key: str = ""
    head: str = ""
    public: Mapping[str, str] = field(default_factory=dict)
    facts: Mapping[str, str] = field(default_factory=dict)
    balance: Balance | None = None
    versions: Mapping[str, str] = field(default_factory=lambda: {"discreet": version("discreet")})

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ParameterError(ASKED, f"no kind of release is called {self.kind!r:.40}", f"Kinds are {KINDS}.")
        for name in ("public", "facts", "versions"):
            object.__setattr__(self, name, MappingProxyType(dict(getattr(self, name))))

    @classmethod
    def of(
        cls,
        receipt: Receipt,
        kind: str = "release",
        schema: Schema | None = None,
        balance: Balance | None = None,
        facts: Mapping[str, str] | None = None,
    ) -> Self:
        """The card of what a receipt was given for.

        Parameters
        ----------
        receipt : Receipt
            What was paid.
        kind : str
            What was released.
        schema : Schema, optional
            Public. Whose columns the card explains.
        balance : Balance, optional
            How the account stands.
        facts : mapping of str to str, optional
            Public, or released. What else there is to say.
        """
        return cls(
            about=receipt.purpose,
            kind=kind,
            event=receipt.event,
            epsilon=receipt.epsilon,
            delta=receipt.delta,
            neighbors=receipt.neighbors,
            unit=receipt.unit,
            secret=receipt.secret,
            key=receipt.key,
            head=receipt.head,
            public={} if schema is None else described(schema),
            facts={**(facts or {}), **_among(receipt)},
            balance=balance,
        )

    @property
    def limits(self) -> tuple[str, ...]:
        """What is not protected, in sentences."""
        size = () if self.neighbors is Neighbors.ADD_REMOVE else ("The number of records is public.",)
        rows = ("A person with several rows is protected row by row only.",) if self.unit.kind == "record" else ()
        names = "The schema, its bounds and its lists are public, and so are the names of tables and columns."
        return (PATTERNS, *rows, *size, names, OTHERS)

    def lines(self) -> dict[str, str]:
        """The card as words, without what the schema says."""
        limit = "" if self.unit.is_row else f" ({self.unit.limit})"
        lines = {
            "of": f"{self.about} ({self.kind})",
            "cost": self._cost,
            **({} if self.event == NO_EVENT else {"released": in_words(self.event)}),
            "protects": f"one {self.unit.kind}{limit} that is {RELATIONS[self.neighbors]}",
            **({} if self.unit.loss is None else {"left out": self.unit.loss}),
            "noise": "secret, from the operating system" if self.secret else "NOT SECRET: this is NOT PRIVATE",
            **self.facts,
        }
        if self.balance is not None:
            lines["account"] = str(self.balance)
        if self.key or self.head:
            lines["ledger"] = ", ".join(f"{name} {text}" for name, text in self._proof.items())
        lines["versions"] = ", ".join(f"{name} {number}" for name, number in self.versions.items())
        return lines

    @property
    def _cost(self) -> str:
        if math.isinf(self.epsilon):
            return "no promise"
        return f"epsilon {self.epsilon:.4g} at delta {self.delta:g}" + (
            ", for all that the account paid" if self.together else ""
        )

    @property
    def _proof(self) -> dict[str, str]:
        """Where the ledger shows it."""
        return {name: text for name, text in (("key", self.key), ("head", self.head[:16])) if text}

    def check_price(self) -> None:
        """Refuse a card that states less than its event costs.

        What an account paid together cannot be computed from one event, and is left to whoever has the ledger.
        """
        if self.together or math.isinf(self.epsilon):
            return
        least = epsilon_interval(self.event, self.delta).lower
        if self.epsilon < least * (1 - CLOSE):
            obstacle = f"it states epsilon {self.epsilon:.6g}, and its event costs {least:.6g} at delta {self.delta:g}"
            raise ParameterError(ASKED, obstacle, "Do not rely on it.")

    def to_dict(self) -> dict[str, Any]:
        """The card as plain numbers, texts and lists; an infinite epsilon is None."""
        balance = self.balance and {**vars(self.balance.budget), "certified": self.balance.certified}
        return {
            "discreet.card": FORMAT,
            "about": self.about,
            "kind": self.kind,
            "event": json.loads(written(self.event)),
            "epsilon": None if math.isinf(self.epsilon) else self.epsilon,
            "delta": self.delta,
            "neighbors": self.neighbors.value,
            "unit": {**vars(self.unit)},
            "secret": self.secret,
            "together": self.together,
            "key": self.key,
            "head": self.head,
            "public": dict(self.public),
            "facts": dict(self.facts),
            "account": balance,
            "versions": dict(self.versions),
            "not_protected": list(self.limits),
        }

    def to_json(self) -> str:
        """The card as JSON."""
        return json.dumps(self.to_dict(), indent=1, allow_nan=False, ensure_ascii=False)

    @classmethod
    def read(cls, text: str) -> Self:
        """The card whose JSON this is.

        Raises
        ------
        ParameterError
            It is not the JSON of a card, or it states less than its event costs.
        """
        try:
            if len(text) > LONGEST:
                raise ValueError(f"it has more than {LONGEST} letters")
            card = cls.of_dict(json.loads(text))
        except DiscreetError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as why:
            raise ParameterError(ASKED, f"this is not the JSON of one ({plain(str(why))[:80]})", "") from why
        return card

    @classmethod
    def of_dict(cls, plain: Mapping[str, Any]) -> Self:
        """The card whose plain form this is; `ValueError` and its like where it is none."""
        if plain["discreet.card"] != FORMAT:
            raise ValueError(f"its form is {plain['discreet.card']}, and {FORMAT} is known")
        names = ("about", "kind", "key", "head")
        if not all(isinstance(plain[name], str) for name in names):
            raise ValueError(f"one of {', '.join(names)} is no text")
        if not (isinstance(plain["secret"], bool) and isinstance(plain["together"], bool)):
            raise ValueError("secret or together is neither true nor false")
        balance = plain["account"]
        card = cls(
            **{name: plain[name] for name in names},
            event=read(json.dumps(plain["event"])),
            epsilon=math.inf if plain["epsilon"] is None else _finite(plain["epsilon"], math.inf),
            delta=_finite(plain["delta"], 1.0),
            neighbors=Neighbors(plain["neighbors"]),
            unit=Unit(**plain["unit"]),
            secret=plain["secret"],
            together=plain["together"],
            balance=balance
            and Balance(Budget(balance["epsilon"], balance["delta"]), _finite(balance["certified"], math.inf)),
            public=_texts(plain["public"]),
            facts=_texts(plain["facts"]),
            versions=_texts(plain["versions"]),
        )
        if list(card.limits) != plain["not_protected"]:
            raise ValueError("what it says is not protected is not what its unit and relation leave open")
        card.check_price()
        return card

    def to_html(self) -> str:
        """The card as a page of its own: it needs no network and runs no script."""
        return page(self)

    def __str__(self) -> str:
        lines = self.lines()
        wide = max(map(len, lines))
        return "\n".join(f"{plain(name):>{wide}}  {plain(text)}" for name, text in lines.items())

    def _repr_html_(self) -> str:
        return carded(facts(self.lines()))


def described(schema: Schema) -> dict[str, str]:
    """What is public of each column, in words."""
    return {name: column.described for name, column in schema.columns.items()}


def _among(receipt: Receipt) -> dict[str, str]:
    condition = {} if receipt.where is None else {"records": f"those where {receipt.where}"}
    return condition | ({} if receipt.participants is None else {"parties": str(receipt.participants)})


def _finite(value: Any, below: float) -> float:
    """A number from 0 to below this one; JSON as Python reads it has others, too."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < below:
        raise ValueError(f"{value!r:.20} is no number from 0 to {below:g}")
    return float(value)


def _texts(plain: Any) -> dict[str, str]:
    if not isinstance(plain, dict) or not all(isinstance(text, str) for text in plain.values()):
        raise ValueError("it holds something other than texts")
    return plain
