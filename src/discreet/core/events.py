"""What a release costs, as data: written in the ledger, read by any accountant, now or in ten years.

The family is closed. A leaf is a currency of loss, not a mechanism: a mechanism with an odd loss tabulates it.

    leaves        PureLoss, ApproximateLoss, GaussianLoss, LaplaceLoss, ConcentratedLoss, RenyiLoss, DiscreteLoss
    combinators   Composed, Repeated, Sampled, Parallel
    none          NoPromise

Every event speaks of neighbors in the sense of the data set that it is charged to. Noise multipliers are in units of
the sensitivity under that relation, so `GaussianLoss(1.0)` is the pair N(0, 1), N(1, 1) whichever the relation is.

The JSON form is permanent: see `written` and `read`.
"""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from numbers import Integral
from typing import Any, ClassVar, Literal, cast, get_args

from discreet.core.checks import quoted, shown
from discreet.core.errors import ParameterError

FORMAT = 1
RECENT = 256  # events whose forms are remembered
TINY, LARGEST = 5e-324, sys.float_info.max
LEAST = 1e-300  # a multiplier, so that losses are floats
MOST = 2**53  # times: beyond, products with floats lose units
FARTHEST = 2**24  # steps from 0 to the first loss of a table
Scheme = Literal["poisson", "fixed_size", "poisson_replace"]


def _check(ok: bool, event: str, obstacle: str, remedy: str) -> None:
    if not ok:
        raise ParameterError(f"event {event}", obstacle, remedy)


def _number(value: Any) -> float:
    """The number that somebody gave, nan where it is none or beyond floats. Whole ones stay so, as in ledgers."""
    try:
        plain = value.item() if hasattr(value, "item") else value
        number = math.nan if isinstance(plain, str | bytes) else float(plain)
    except (TypeError, ValueError, OverflowError):
        return math.nan
    return plain if type(plain) in (int, bool) else number


def _real(value: object) -> float:
    return float(_number(value))


def _check_range(event: Event, name: str, least: float, most: float, remedy: str) -> None:
    """Refuse what is no number, or none in this range; what was checked is what is kept."""
    given = getattr(event, name)
    if type(given) is float and least <= given <= most:
        return
    number = _number(given)
    _check(least <= number <= most, event.kind, f"{name} is {shown(given)}", remedy)
    object.__setattr__(event, name, number)


def _several(event: str, values: Any) -> tuple[Any, ...]:
    """The parts of what has some, such as a list."""
    try:
        if not isinstance(values, str):
            return tuple(values)
    except TypeError:
        pass
    raise ParameterError(f"event {event}", f"{shown(values)} has no parts", "")


def _parts(event: str, values: object) -> tuple[Event, ...]:
    """The same of what has events alone."""
    parts = values if type(values) is tuple else _several(event, values)
    for part in parts:
        if not isinstance(part, Event):
            _check(False, event, f"{shown(part)} is no event", "Give events.")
    return parts


class Event:
    """What a release costs. One of the classes of this module, and no other."""

    kind: ClassVar[str]


@dataclass(frozen=True)
class PureLoss(Event):
    """Pure differential privacy: the likelihood ratio never exceeds exp(epsilon)."""

    kind: ClassVar[str] = "pure"
    epsilon: float

    def __post_init__(self) -> None:
        _check_range(self, "epsilon", 0.0, LARGEST, "Give 0 <= epsilon < inf.")


@dataclass(frozen=True)
class ApproximateLoss(Event):
    """(epsilon, delta): the hockey-stick divergence of order exp(epsilon) is at most delta."""

    kind: ClassVar[str] = "approximate"
    epsilon: float
    delta: float

    def __post_init__(self) -> None:
        _check_range(self, "epsilon", 0.0, LARGEST, "Give 0 <= epsilon < inf.")
        _check_range(self, "delta", 0.0, 1.0, "Give 0 <= delta <= 1.")


@dataclass(frozen=True)
class GaussianLoss(Event):
    """Dominated by N(0, m^2) against N(1, m^2): Gaussian differential privacy with mu = 1 / multiplier."""

    kind: ClassVar[str] = "gaussian"
    multiplier: float

    def __post_init__(self) -> None:
        _check_range(self, "multiplier", LEAST, LARGEST, f"Give {LEAST:g} <= it < inf.")


@dataclass(frozen=True)
class LaplaceLoss(Event):
    """Dominated by Laplace(0, m) against Laplace(1, m): pure with epsilon = 1 / multiplier, and less in sums."""

    kind: ClassVar[str] = "laplace"
    multiplier: float

    def __post_init__(self) -> None:
        _check_range(self, "multiplier", LEAST, LARGEST, f"Give {LEAST:g} <= it < inf.")


@dataclass(frozen=True)
class ConcentratedLoss(Event):
    """Zero-concentrated privacy: the Renyi divergence of every order a is at most a * rho, in both directions."""

    kind: ClassVar[str] = "concentrated"
    rho: float

    def __post_init__(self) -> None:
        _check_range(self, "rho", 0.0, LARGEST, "Give 0 <= rho < inf.")


@dataclass(frozen=True)
class RenyiLoss(Event):
    """A tabulated Renyi curve: divergence of order `orders[i]` at most `values[i]`, in both directions.

    Orders increase, from above 1 to infinity (`math.inf` is pure epsilon). An order between two entries is bounded by
    the next entry, since Renyi divergence grows with its order.
    """

    kind: ClassVar[str] = "renyi"
    orders: tuple[float, ...]
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", tuple(map(_real, _several(self.kind, self.orders))))
        object.__setattr__(self, "values", tuple(map(_real, _several(self.kind, self.values))))
        orders, values, kind = self.orders, self.values, self.kind
        alike, increase = len(orders) == len(values) > 0, all(a < b for a, b in pairwise(orders))
        found, remedy = f"{len(orders)} orders and {len(values)} values", "Leave out infinite divergences."
        _check(alike, kind, found, "Give one value per order, at least one.")
        _check(all(order > 1 for order in orders), kind, "an order is not above 1", "Give orders above 1.")
        _check(increase, kind, "orders do not increase", "Sort the orders.")
        _check(all(0 <= value < math.inf for value in values), kind, "a value is not in [0, inf)", remedy)


@dataclass(frozen=True)
class LossTable:
    """One direction of a tabulated loss: mass `probabilities[i]` at loss `(first + i) * step`, the rest at infinity.

    The masses are those of the first data set of the pair; the second has mass p * exp(-loss) at the same place.
    """

    first: int
    probabilities: tuple[float, ...]
    infinity: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "probabilities", tuple(map(_real, _several("discrete", self.probabilities))))
        object.__setattr__(self, "infinity", _number(self.infinity))


@dataclass(frozen=True)
class DiscreteLoss(Event):
    """A tabulated privacy-loss distribution, both directions, that dominates the mechanism's."""

    kind: ClassVar[str] = "discrete"
    step: float
    remove: LossTable
    add: LossTable

    def __post_init__(self) -> None:
        _check_range(self, "step", TINY, LARGEST, "Give 0 < step < inf.")
        for table in (self.remove, self.add):
            _check(isinstance(table, LossTable), self.kind, "a direction is no table", "Give two tables.")
            near = isinstance(table.first, Integral) and abs(table.first) <= FARTHEST
            _check(near, self.kind, f"a table begins at {shown(table.first)}", "Begin nearer to 0, in whole steps.")
            masses = table.probabilities
            losses = [(table.first + i) * self.step for i in range(len(masses))]
            there = math.fsum(masses) + table.infinity
            back = math.fsum(p * math.exp(min(-loss, 700.0)) for p, loss in zip(masses, losses, strict=True) if p > 0)
            positive = all(p >= 0 for p in masses) and table.infinity >= 0 and len(masses) > 0
            negative, sums = (
                "a probability is negative, or there is none",
                f"{there} and, for the other data set, {back}",
            )
            whole, remedy = abs(there - 1) <= 1e-9 and back <= 1 + 1e-9, "The first must be 1 and the second at most 1."
            _check(positive, self.kind, negative, "Give probabilities of at least 0.")
            _check(whole, self.kind, f"the masses add up to {sums}", remedy)


@dataclass(frozen=True)
class Composed(Event):
    """All of these, about the same units."""

    kind: ClassVar[str] = "composed"
    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", _parts(self.kind, self.events))


@dataclass(frozen=True)
class Repeated(Event):
    """The same event, several times, about the same units."""

    kind: ClassVar[str] = "repeated"
    event: Event
    times: int

    def __post_init__(self) -> None:
        _parts(self.kind, (self.event,))
        if type(self.times) is not int or not 1 <= self.times <= MOST:
            whole = 1 <= (times := _real(self.times)) <= MOST and times.is_integer()
            _check(whole, self.kind, f"times is {shown(self.times)}", "Give a whole number, at least 1.")
            object.__setattr__(self, "times", int(self.times))


@dataclass(frozen=True)
class Sampled(Event):
    """The event, asked of a secret random sample.

    `poisson`: every unit is in with probability `rate`, by itself; sound for add/remove neighbors.
    `fixed_size`: a uniform subset of that share of the units; sound for replace neighbors.
    `poisson_replace`: drawn as `poisson`; sound for replace neighbors, and only for Gaussian noise on sums whose
    contributions are at most half the sensitivity long, so that whoever is not in is halfway between any two.
    """

    kind: ClassVar[str] = "sampled"
    event: Event
    rate: float
    scheme: Scheme = "poisson"

    def __post_init__(self) -> None:
        _check_range(self, "rate", TINY, 1.0, "Give 0 < rate <= 1.")
        _parts(self.kind, (self.event,))
        known = isinstance(self.scheme, str) and self.scheme in get_args(Scheme)
        remedy = f"Use one of {', '.join(get_args(Scheme))}."
        _check(known, self.kind, f"scheme is {quoted(self.scheme)}", remedy)


@dataclass(frozen=True)
class Parallel(Event):
    """Each event about a disjoint part of the units, split by a rule that looks at one unit at a time.

    Sound for add/remove neighbors, where one unit is in one part only.
    """

    kind: ClassVar[str] = "parallel"
    events: tuple[Event, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "events", _parts(self.kind, self.events))
        _check(len(self.events) > 0, self.kind, "there are no parts", "Give at least one event.")


@dataclass(frozen=True)
class NoPromise(Event):
    """A release without a guarantee. A ledger admits it only by its owner's explicit waiver."""

    kind: ClassVar[str] = "no_promise"
    reason: str


LEAVES: tuple[type[Event], ...] = (
    PureLoss,
    ApproximateLoss,
    GaussianLoss,
    LaplaceLoss,
    ConcentratedLoss,
    RenyiLoss,
    DiscreteLoss,
    NoPromise,
)
COMBINATORS: tuple[type[Event], ...] = (Composed, Repeated, Sampled, Parallel)
KINDS = {kind.kind: kind for kind in LEAVES + COMBINATORS}


def parts(event: Event) -> tuple[Event, ...]:
    """The events directly inside this one; empty for a leaf."""
    match event:
        case Composed(events) | Parallel(events):
            return events
        case Repeated(inner) | Sampled(inner):
            return (inner,)
        case _:
            return ()


@lru_cache(maxsize=RECENT)
def walked(event: Event) -> tuple[Event, ...]:
    """The event and all its parts, and theirs."""
    return (event, *(inner for part in parts(event) for inner in walked(part)))


@lru_cache(maxsize=RECENT)
def leaves(event: Event) -> tuple[Event, ...]:
    """The parts of an event that have no parts."""
    return tuple(part for part in walked(event) if not parts(part))


@lru_cache(maxsize=RECENT)
def loses(event: Event) -> bool:
    """Whether the promise leaves room for any loss beside failures, however small: its price is then not nothing.

    Examples
    --------
    >>> loses(Composed((PureLoss(0.0), LaplaceLoss(1e300)))), loses(ApproximateLoss(0.0, 0.5))
    (True, False)
    """
    return any(_leaf_loses(part) for part in walked(event))


@lru_cache(maxsize=RECENT)
def fails(event: Event) -> bool:
    """Whether the promise is broken with some probability, however small."""
    return any(_leaf_fails(part) for part in walked(event))


def _leaf_loses(event: Event) -> bool:
    match event:
        case PureLoss(loss) | ApproximateLoss(loss) | ConcentratedLoss(loss):
            return loss > 0
        case RenyiLoss(_, values):
            return any(value > 0 for value in values)
        case DiscreteLoss(_, remove, add):
            return any(p > 0 and t.first + i != 0 for t in (remove, add) for i, p in enumerate(t.probabilities))
        case _:
            return not isinstance(event, COMBINATORS)


def _leaf_fails(event: Event) -> bool:
    match event:
        case ApproximateLoss(_, delta):
            return delta > 0
        case DiscreteLoss(_, remove, add):
            return any(table.infinity > 0 for table in (remove, add))
        case _:
            return False


@lru_cache(maxsize=RECENT)
def written(event: Event) -> str:
    """The event's JSON, sorted and compact, so that equal events have equal text.

    The form is an object `{"discreet.event": 1, "event": NODE}`. A NODE has the key `"is"` with the kind and one key
    per field of the class: numbers as shortest decimal text that reads back to the same float, infinity as the
    string `"inf"`, tuples as lists, events and loss tables as nodes.

    Examples
    --------
    >>> written(Repeated(GaussianLoss(2.0), 3))
    '{"discreet.event":1,"event":{"event":{"is":"gaussian","multiplier":2.0},"is":"repeated","times":3}}'
    """
    return json.dumps(
        {"discreet.event": FORMAT, "event": _node(event)}, sort_keys=True, separators=(",", ":"), allow_nan=False
    )


@lru_cache(maxsize=RECENT)
def read(text: str) -> Event:
    """The event whose JSON this is.

    Examples
    --------
    >>> read('{"discreet.event":1,"event":{"is":"pure","epsilon":0.5}}')
    PureLoss(epsilon=0.5)
    """
    try:
        document = json.loads(text)
        version, node = document["discreet.event"], document["event"]
    except (ValueError, KeyError, TypeError, RecursionError) as why:
        raise ParameterError("read an event", f"this is not the JSON of one ({why})", "") from why
    if version != FORMAT:
        obstacle = f"it is in format {version}; this version reads format {FORMAT}"
        raise ParameterError("read an event", obstacle, "Read it with a newer release.", version=version)
    if not isinstance(found := _value(node), Event):
        raise ParameterError("read an event", f"this is {shown(found)}", "")
    return found


def _node(value: Any) -> Any:
    if isinstance(value, Event | LossTable):
        fields = {field.name: _node(getattr(value, field.name)) for field in dataclasses.fields(cast(Any, value))}
        return {"is": value.kind if isinstance(value, Event) else "table", **fields}
    if isinstance(value, tuple):
        return [_node(item) for item in value]
    if isinstance(value, float) and math.isinf(value):
        return "inf"
    return value.item() if hasattr(value, "item") else value


def _value(node: Any) -> Any:
    if isinstance(node, list):
        return tuple(_value(item) for item in node)
    if node == "inf":
        return math.inf
    if not isinstance(node, dict):
        return node
    fields = {name: _value(value) for name, value in node.items() if name != "is"}
    kind = LossTable if node.get("is") == "table" else KINDS.get(str(node.get("is")))
    if kind is None:
        raise ParameterError(
            "read an event", f"no event is called {node.get('is')!r}", f"Known are {', '.join(sorted(KINDS))}."
        )
    if fields.keys() != {field.name for field in dataclasses.fields(cast(Any, kind))}:
        raise ParameterError("read an event", f"{node.get('is')} does not have the fields {sorted(fields)}", "")
    return kind(**fields)
