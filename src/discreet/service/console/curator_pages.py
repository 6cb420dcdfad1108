"""Pages of curators and auditors: what waits, what was charged, by whom, and the proof that it was not changed."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.errors import ParameterError
from discreet.service.console.shown import (
    BalanceShown,
    balances_shown,
    burnt_down,
    charges,
    questions_shown,
    schema_rows,
)
from discreet.service.console.visit import PageReply, Visit
from discreet.service.server.site_file import UserEntry

MOST_CHARGES = 500  # of a history that is shown


@dataclass(frozen=True)
class PersonShown:
    """Somebody who may use the site, with the accounts that bound them."""

    name: str
    role: str
    data: str
    asked: int
    balances: tuple[BalanceShown, ...]


def approvals(visit: Visit) -> PageReply:
    """What waits for a curator: dear questions, and charges that have no answer."""
    visit.check_role("curator")
    views = visit.site.data_sets(visit.user)
    dangling = [
        (view.name, charge)
        for view in views
        if not view.trouble
        for charge in visit.site.dangling(visit.user, view.name)
    ]
    lost = questions_shown(visit.site.asked(visit.user, state="dangling"))
    return visit.page(
        "approvals",
        waiting=questions_shown(visit.site.approvals(visit.user)),
        dangling=[(name, charges([charge])[0]) for name, charge in dangling],
        lost=lost,
        views=views,
    )


def decided(visit: Visit) -> PageReply:
    """Approve, deny, or ask once more what was charged and never answered."""
    id, reason = visit.named["id"], visit.form.text("reason")
    match visit.form.text("decision"):
        case "approve":
            visit.site.approve(visit.user, id)
        case "deny":
            if not reason:
                raise ParameterError("deny", "there is no reason", "Write one: the analyst is told.")
            visit.site.deny(visit.user, id, reason)
        case "again":
            visit.site.again(visit.user, id)
        case _:
            raise ParameterError("decide", "nothing was decided", "Approve it, deny it, or ask it again.")
    return visit.seen("/approvals")


def frozen(visit: Visit) -> PageReply:
    """Let nobody ask a data set."""
    reason = visit.form.text("reason")
    if not reason:
        raise ParameterError("freeze", "there is no reason", "Write one: analysts are told.")
    visit.site.freeze(visit.user, visit.named["name"], reason)
    return visit.seen(f"/data/{visit.named['name']}")


def thawed(visit: Visit) -> PageReply:
    """Let it be asked again."""
    visit.site.thaw(visit.user, visit.named["name"])
    return visit.seen(f"/data/{visit.named['name']}")


def reopened(visit: Visit) -> PageReply:
    """Open a ledger again that was set right."""
    visit.site.reopen(visit.user, visit.named["name"])
    return visit.seen(f"/data/{visit.named['name']}")


def people(visit: Visit) -> PageReply:
    """Who may use the site, and how much of their accounts is left."""
    visit.check_role("curator", "auditor")
    counted = visit.site.counted(visit.user, "user")
    shown = [_person(visit, user, counted.get(user.name, 0)) for user in visit.site.file.users.values()]
    return visit.page("people", people=shown)


def _person(visit: Visit, user: UserEntry, asked: int) -> PersonShown:
    """Somebody with the accounts of each data set that has one for them."""
    found = []
    for view in visit.site.data_sets(user):
        own = view.balances.get(user.name)
        found += [] if own is None else [BalanceShown.of(view.name, own)]
    data = "all" if user.role != "analyst" else ", ".join(user.data) or "none"
    return PersonShown(user.name, user.role, data, asked, tuple(found))


def histories(visit: Visit) -> PageReply:
    """The accounts of all data sets."""
    visit.check_role("curator", "auditor")
    views = visit.site.data_sets(visit.user)
    return visit.page("histories", shown=[(view, balances_shown(view.balances)) for view in views])


def history(visit: Visit) -> PageReply:
    """Every charge of a data set, with its proof."""
    return _history(visit)


def verified(visit: Visit) -> PageReply:
    """The same, once the whole ledger was checked."""
    visit.check_role("curator", "auditor")
    found = visit.site.verify(visit.user, visit.named["name"])
    return _history(visit, f"Checked: {found}")


def _history(visit: Visit, said: str = "") -> PageReply:
    visit.check_role("curator", "auditor")
    view = visit.site.data_set(visit.user, visit.named["name"])
    entries = () if view.trouble else visit.site.history(visit.user, view.name, MOST_CHARGES)
    prices = [] if view.trouble else visit.site.prices(visit.user, view.name)
    curve = "" if view.trouble else burnt_down(view.balances["data set"], prices)
    return visit.page(
        "history",
        view=view,
        charges=charges(entries),
        left_out=max(len(prices) - MOST_CHARGES, 0),
        head=entries[-1].head if entries else "",
        curve=curve,
        balances=balances_shown(view.balances),
        columns=schema_rows(view),
        said=said,
        broken=view.trouble,
    )
