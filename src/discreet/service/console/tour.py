"""The tour: six short chapters on made-up records, from what is public to the proof of what was paid.

Its questions and prices are few, and each is asked once in the life of a server: whoever comes later is given the same
answer, as from any ledger. So nobody can wear the sample out, or the machine.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cache
from typing import Any

import discreet
from discreet.core.errors import BudgetExceeded
from discreet.query.line_chart import error_curve
from discreet.releases.card_of import privacy_card
from discreet.service.console.data_pages import curve_prices
from discreet.service.console.question_choice import STEPS, USUAL_STEP, epsilon_at
from discreet.service.console.sent_form import SentForm
from discreet.service.console.shown import BalanceShown, ResultShown, charges
from discreet.service.console.templates import markup
from discreet.trust.private_data import PrivateData

LAST = 6
CHAPTERS = ("What is public", "Before you pay", "An answer", "The account", "The promise", "The proof")
QUESTION = "mean of stay_days by department"
BUDGET = {"epsilon": 2.0, "delta": 1e-6}
PAID = (0.1, 0.5, 1.0)  # the prices at which the question can be asked
SIZE = 5000
LOCK = threading.Lock()


@cache
def patients() -> PrivateData:
    """The sample, with an account that lasts as long as the server."""
    return discreet.sample("patients", **BUDGET)


def chapter(step: int, sent: SentForm) -> tuple[str, dict[str, Any]]:
    """The part of the page that a chapter is, and what it shows."""
    makers: tuple[Callable[[SentForm], dict[str, Any]], ...] = (_public, _before, _answer, _account, _promise, _proof)
    about = makers[step - 1](sent)
    return f"tour_{step}.html", {"chapters": CHAPTERS, "question": QUESTION, **about}


def asked(epsilon: float) -> Any:
    """The answer at one of the prices: charged the first time, and given again ever after."""
    with LOCK:
        return discreet.mean(patients(), "stay_days", by="department", epsilon=epsilon, key=f"tour {epsilon:g}")


def _public(sent: SentForm) -> dict[str, Any]:
    schema = patients().schema
    return {"columns": [(n, type(k).__name__.lower(), k.described) for n, k in schema.columns.items()], "size": SIZE}


def _before(sent: SentForm) -> dict[str, Any]:
    step = sent.whole("step")
    step = USUAL_STEP if step is None else min(max(step, 0), STEPS)
    prices = curve_prices()
    errors = _errors()
    epsilon = epsilon_at(step)
    return {
        "slider": step,
        "steps": STEPS,
        "epsilon": f"{epsilon:g}",
        "error": f"{_error(epsilon):.2g}",
        "curve": markup(error_curve(prices, errors, epsilon, _error(epsilon))),
    }


@cache
def _errors() -> list[float]:
    """The errors to expect at the prices of the curve."""
    found = discreet.plan(patients().schema, QUESTION, n=SIZE, epsilon=curve_prices())
    return [one.error for one in found.expectations]


@cache
def _error(epsilon: float) -> float:
    """The error to expect, of the largest group; from the schema alone."""
    return discreet.plan(patients().schema, QUESTION, n=SIZE, epsilon=epsilon).error


def _answer(sent: SentForm) -> dict[str, Any]:
    epsilon = sent.number("epsilon")
    chosen = min(PAID, key=lambda price: abs(price - (0.5 if epsilon is None else epsilon)))
    found = asked(chosen)
    return {"prices": PAID, "chosen": chosen, "result": ResultShown.of(found, str(found)), "cost": found.receipt.cost}


def _account(sent: SentForm) -> dict[str, Any]:
    asked(PAID[1])
    ledger = patients().ledger
    return {"balance": BalanceShown.of("everybody together", ledger.balance()), "refused": _refused()}


def _refused() -> str:
    """What is said to whoever asks for more than there is."""
    try:
        with LOCK:
            discreet.mean(patients(), "age", epsilon=50.0)
    except BudgetExceeded as why:
        return str(why)
    raise AssertionError("the account of the tour paid for more than it has")


def _promise(sent: SentForm) -> dict[str, Any]:
    card = privacy_card(asked(PAID[1]), patients())
    return {"lines": {name: text for name, text in card.lines().items() if name != "ledger"}, "limits": card.limits}


def _proof(sent: SentForm) -> dict[str, Any]:
    asked(PAID[1])
    return {"charges": charges(patients().ledger.entries())}
