"""How one account stands: its budget, the members of its filter, and what is spent in each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from discreet.accounting.accountant import Price
from discreet.accounting.filters.amount import DELTA_UNITS, NOTHING, Amount
from discreet.accounting.filters.gaussian_filter import GaussianFilter
from discreet.accounting.filters.pure_filter import PureFilter
from discreet.accounting.filters.renyi_filter import RenyiFilter
from discreet.accounting.filters.union import FilterUnion, Member, Spent, chosen, payable
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.core.events import Event
from discreet.core.ledger import Balance
from discreet.ledger.account import Account, holder


def raised(union: FilterUnion, before: Budget, after: Budget) -> FilterUnion:
    """The members with the caps of a larger budget.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.accounting.filters.union import chosen
    >>> union = chosen(Budget(1.0), PureLoss(0.5))
    >>> raised(union, Budget(1.0), Budget(2.0)).members[0].certified(union.members[0].cap)
    1.0
    """
    grown = Fraction(after.delta) / Fraction(before.delta) if before.delta else Fraction(0)
    fresh = Fraction(0) if before.delta else Fraction(after.delta)  # an account without delta has one member
    members = []
    for member in union.members:
        share, failures = (grown * Fraction(units, DELTA_UNITS) for units in (member.share, member.cap.delta))
        members.append(_raised_member(member, after.epsilon, share, failures + fresh))
    return FilterUnion(tuple(members))


def _raised_member(member: Member, epsilon: float, share: Fraction, failures: Fraction) -> Member:
    found: PureFilter | GaussianFilter | RenyiFilter
    match member:
        case GaussianFilter(first=first):
            found = GaussianFilter.of(epsilon, share, failures, first)
        case RenyiFilter(order=order):
            found = RenyiFilter.of(epsilon, share, failures, order)
        case PureFilter(first=first):
            found = PureFilter.of(epsilon, share, failures, first)
        case _:
            raise TypeError(member)
    parts = ("loss", "delta", "slack")
    return replace(found, cap=Amount(*(max(getattr(found.cap, part), getattr(member.cap, part)) for part in parts)))


@dataclass(frozen=True)
class AccountState:
    """An account after its charges so far.

    Parameters
    ----------
    budget : Budget
        What may be spent in all.
    union : FilterUnion, optional
        The filter; None before the first charge, which determines it.
    spent : tuple of Amount
        What is spent in each member of the filter.
    asked : float
        The sum of the epsilons of the charges, each by itself.
    charges : int
        How many there were.
    expired : str
        Why nothing may be charged any more; empty while something may.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> AccountState(Budget(1.0, 1e-6)).after(PureLoss(0.25)).holds
    True
    """

    budget: Budget
    union: FilterUnion | None = None
    spent: Spent = ()
    asked: float = 0.0
    charges: int = 0
    expired: str = ""

    def after(self, event: Event) -> AccountState:
        """The account after one more charge, whether it holds or not."""
        if self.union is None:
            union = chosen(self.budget, event)
            return replace(self, union=union, spent=union.opening(event))
        return replace(self, spent=self.union.after(event, self.spent))

    def raised(self, budget: Budget) -> AccountState:
        """The account with a larger budget.

        Raises
        ------
        ValueError
            The budget is not larger.
        """
        old = self.budget
        if budget.epsilon < old.epsilon or budget.delta < old.delta or budget == old:
            raise ValueError(f"{budget} is not larger than {old}")
        union = self.union and raised(self.union, old, budget)
        return replace(self, budget=budget, union=union)

    def raised_as(self, fields: dict[str, Any]) -> AccountState:
        """The account with a larger budget, as an entry of the chain has it, which must add up."""
        budget = Budget(fields["epsilon"], fields["delta"])
        if self.union is None:
            return self.raised(budget)
        if budget.epsilon < self.budget.epsilon or budget.delta < self.budget.delta:
            raise ValueError("the budget became less")
        firsts = (each.first for each in self.union.members if isinstance(each, GaussianFilter | PureFilter))
        first = next((each for each in firsts if each is not None), None)
        members = tuple(_read(member, budget, first) for member in fields["members"])
        for old, new in zip(self.union.members, members, strict=True):
            if _kind(old) != _kind(new) or not old.cap.within(new.cap):
                raise ValueError("the members of a filter do not change, and caps do not shrink")
        if FilterUnion(members).delta > budget.delta:
            raise ValueError("the members of the filter have more delta than the account")
        return replace(self, budget=budget, union=FilterUnion(members))

    def written_raise(self) -> dict[str, Any]:
        """The budget and the members as an entry holds them."""
        members = [] if self.union is None else [_written(member) for member in self.union.members]
        return {"epsilon": self.budget.epsilon, "delta": self.budget.delta, "members": members}

    def affords(self, event: Event) -> bool:
        """Whether the account would hold after this charge."""
        if self.expired:
            return False
        return payable(self.budget, event) if self.union is None else self.after(event).holds

    @property
    def holds(self) -> bool:
        return self.union is None or self.union.holds(self.spent)

    def balance(self) -> Balance:
        """The account in numbers for people. One charge alone costs what it would cost anywhere."""
        if self.union is None:
            return Balance(self.budget, 0.0)
        certified = self.union.certified(self.spent)
        if self.charges == 1:
            certified = min(certified, self.asked)
        return Balance(self.budget, certified)

    def closed(self, asked: str, account: Account) -> NotPermitted | None:
        """The refusal of an account that expired."""
        if not self.expired:
            return None
        return NotPermitted(
            asked,
            f"the account of {holder(account)} has expired ({self.expired})",
            "Let the owner admit another analyst, or ask about other data.",
            account=account and str(account),
        )

    def charged(self, after: AccountState) -> dict[str, Any]:
        """The charge as an entry of the chain holds it: the members with the first one, and what is spent after it."""
        union = after.union or FilterUnion(())
        members = {} if self.union else {"members": list(map(_written, union.members))}
        spent = [_text(amount, member) for amount, member in zip(after.spent, union.members, strict=True)]
        return members | {"spent": spent}

    def followed(
        self, charge: dict[str, Any], price: Price, event: Callable[[], Event], anew: bool = False
    ) -> AccountState:
        """The account after a charge of the chain, which must add up.

        Parameters
        ----------
        charge : dict
            As the entry holds it.
        price : Price
            That of the event by itself.
        event : callable
            Reads the event, where it is needed: if it is the first, or is computed anew.
        anew : bool
            Compute caps and costs from the event: neither may be on the lenient side.

        Raises
        ------
        ValueError
            It does not.
        """
        union = self.union
        if union is None:
            first = event()
            union = FilterUnion(tuple([_read(member, self.budget, first) for member in charge["members"]]))
            if union.delta > self.budget.delta:
                raise ValueError("the members of the filter have more delta than the account")
        elif "members" in charge:
            raise ValueError("the members of a filter do not change")
        spent = _spent(union, charge["spent"], self.spent)
        before = self.spent or (NOTHING,) * len(spent)
        for one, other in zip(before, spent, strict=True):
            if not _grown(one, other):
                raise ValueError("what is spent became less")
        asked, charges = self.asked + price.epsilon, self.charges + 1
        if self.expired:
            raise ValueError("the account has expired")
        found = AccountState(self.budget, union, spent, asked, charges)
        if len(spent) != len(union.members) or not found.holds:
            raise ValueError("the account is overdrawn")
        if anew:
            _check_anew(self, union, spent, event())
        return found


def _check_anew(standing: AccountState, union: FilterUnion, spent: Spent, event: Event) -> None:
    """Compute a charge anew from its event.

    Raises
    ------
    ValueError
        A cap is more than its share of delta allows, or less is spent than the event costs, by more than rounding.
    """
    if standing.union is None:
        if not all(member.sound for member in union.members):
            raise ValueError("the cap of a filter is more than its share of delta allows")
        costs = union.opening(event)
    else:
        costs = standing.after(event).spent
    for cost, paid in zip(costs, spent, strict=True):
        if paid is not None and (cost is None or not (cost.within(paid) or cost.within(_more(paid)))):
            raise ValueError("less is spent than the event costs")


def recompute_raise(standing: AccountState) -> None:
    """Compute the caps of a raised account anew.

    Raises
    ------
    ValueError
        A cap is more than its share of delta allows.
    """
    if standing.union is not None and not all(member.sound for member in standing.union.members):
        raise ValueError("the cap of a filter is more than its share of delta allows")


def _more(spent: Amount) -> Amount:
    """A little more, for another machine's rounding: a billionth."""
    return Amount(*(units + units // 10**9 + 10**6 for units in (spent.loss, spent.delta, spent.slack)))


def _grown(before: Amount | None, after: Amount | None) -> bool:
    return after is None or (before is not None and before.within(after))


def _written(member: Member) -> dict[str, Any]:
    """A member as an entry holds it."""
    plain = {"share": str(member.share), "cap": _text(member.cap, member)}
    match member:
        case GaussianFilter(first=first):
            return {"is": "gaussian", "first": first is not None, **plain}
        case RenyiFilter(order=order):
            return {"is": "renyi", "order": order, **plain}
        case PureFilter(first=first):
            return {"is": "pure", **({} if first is None else {"first": True}), **plain}
        case _:
            raise TypeError(member)


def _kind(member: Member) -> dict[str, Any]:
    """What never changes of a member."""
    return {name: value for name, value in _written(member).items() if name not in ("share", "cap")}


def _read(plain: dict[str, Any], budget: Budget, first: Event | None) -> Member:
    cap, share = _amount(plain["cap"]), int(plain["share"])
    if min(share, cap.loss, cap.delta, cap.slack) < 0:
        raise ValueError("a share or a cap is negative")
    member = _member(plain, budget, first, share, cap)
    return member if "slack" in plain["cap"] else replace(member, cap=replace(cap, slack=member.aside))


def _member(
    plain: dict[str, Any], budget: Budget, first: Event | None, share: int, cap: Amount
) -> GaussianFilter | RenyiFilter | PureFilter:
    match plain["is"]:
        case "gaussian":
            return GaussianFilter(budget.epsilon, share, first if plain["first"] else None, cap)
        case "renyi":
            return RenyiFilter(budget.epsilon, share, float(plain["order"]), cap)
        case "pure":
            return PureFilter(budget.epsilon, share, first if plain.get("first") else None, cap)
        case other:
            raise ValueError(f"there is no filter {other!r}")


def _text(amount: Amount | None, member: Member) -> dict[str, str] | None:
    """An amount as it is written. The form of entries is permanent: slack came later, and is left out where none is."""
    if amount is None:
        return None
    return {"loss": str(amount.loss), "delta": str(amount.delta)} | (
        {"slack": str(amount.slack)} if member.cap.slack else {}
    )


def _amount(text: dict[str, str]) -> Amount:
    return Amount(int(text["loss"]), int(text["delta"]), int(text.get("slack", 0)))


def _spent(union: FilterUnion, texts: list[dict[str, str] | None], before: Spent) -> Spent:
    """What is spent in each member, as an entry holds it.

    A ledger that did not count slacks granted them in proportion to losses, or less.
    """
    found: list[Amount | None] = []
    for member, text, last in zip(union.members, texts, before or (NOTHING,) * len(texts), strict=True):
        amount = None if text is None else _amount(text)
        if amount and text and "slack" not in text and (member.cap.slack or last):
            amount = replace(amount, slack=_granted(member.cap, amount.loss, last))
        found.append(amount)
    return tuple(found)


def _granted(cap: Amount, loss: int, last: Amount | None) -> int:
    granted = -(-cap.slack * loss // max(1, cap.loss)) if cap.slack else 0
    return max(granted, last.slack if last else 0)
