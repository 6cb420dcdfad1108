"""Pages of data sets: what may be asked, what is left, and the builder that shows errors before anything is paid."""

from __future__ import annotations

import json
import math
import secrets
import threading
from collections import OrderedDict
from typing import Any

from discreet.core.errors import DiscreetError, ParameterError
from discreet.display.digits import error_bar
from discreet.query.forecast.forecast import Expectation, Forecast
from discreet.query.line_chart import error_curve
from discreet.query.words import sayable
from discreet.service.console.question_choice import (
    MOST_CONDITIONS,
    OFFERED,
    SIGNS,
    STEPS,
    USUAL_STEP,
    QuestionChoice,
    asked_of,
    epsilon_at,
    groupable,
)
from discreet.service.console.shown import (
    balances_shown,
    burnt_down,
    charges,
    protects,
    questions_shown,
    schema_rows,
)
from discreet.service.console.templates import markup
from discreet.service.console.visit import PageReply, Visit
from discreet.service.server.site import DataSetView

CURVE = 4  # steps of the slider between two prices of the curve
REMEMBERED = 256  # curves
LOCK = threading.Lock()
CURVES: OrderedDict[Any, list[float]] = OrderedDict()


def curve_prices() -> list[float]:
    """The prices at which the curve of errors is computed."""
    return [epsilon_at(step) for step in range(0, STEPS + 1, CURVE)]


def data_sets(visit: Visit) -> PageReply:
    """All data sets of this caller, with what is left of each."""
    views = visit.site.data_sets(visit.user)
    shown = [{"view": one, "balances": balances_shown(one.balances), "protects": protects(one)} for one in views]
    return visit.page("data_sets", shown=shown, broken=_broken(views))


def data_set(visit: Visit) -> PageReply:
    """One data set: what is public of it, what is left, what was asked."""
    view = visit.site.data_set(visit.user, visit.named["name"])
    about: dict[str, Any] = {"curve": "", "charges": [], "asked": []}
    if not view.trouble:
        entries = visit.site.history(visit.user, view.name, 20)
        own = view.balances.get(visit.user.name, view.balances["data set"])
        about = {"curve": burnt_down(own, visit.site.prices(visit.user, view.name)), "charges": charges(entries)}
        about["asked"] = questions_shown(visit.site.asked(visit.user, view.name, most=10))
    return visit.page(
        "data_set",
        view=view,
        columns=schema_rows(view),
        protects=protects(view),
        balances=balances_shown(view.balances),
        broken=_broken([view]),
        **about,
    )


def builder(visit: Visit) -> PageReply:
    """The builder, or only what it says of a question, where the script asks for that."""
    view = visit.site.data_set(visit.user, visit.named["name"])
    try:
        choice, refusal = QuestionChoice.of(visit.sent, view.schema), None
        about = _preview(visit, view, choice) if visit.sent.fields else None
    except DiscreetError as why:
        choice, refusal, about = QuestionChoice(), why, None
    if visit.part:
        return visit.page("preview", 200, view=view, preview=about, refusal=refusal)
    return visit.page(
        "builder",
        view=view,
        choice=choice,
        sent=visit.sent,
        offered=OFFERED,
        signs=SIGNS,
        conditions=range(1, MOST_CONDITIONS + 1),
        columns=asked_of(view.schema),
        groups=groupable(view.schema),
        steps=STEPS,
        balances=balances_shown(view.balances),
        n=visit.sent.text("n") or _assumed(view),
        preview=about,
        refusal=refusal,
        broken=_broken([view]),
    )


def words(visit: Visit) -> PageReply:
    """Questions in words or in SQL, learners among them, with what to expect of them."""
    view = visit.site.data_set(visit.user, visit.named["name"])
    text, about, refusal = visit.sent.text("question"), None, None
    try:
        about = _preview_of(visit, view, text, _step(visit), visit.sent.number("delta") or 0.0) if text else None
    except DiscreetError as why:
        refusal = why
    if visit.part:
        return visit.page("preview", view=view, preview=about, refusal=refusal)
    return visit.page(
        "words",
        view=view,
        text=text,
        step=_step(visit),
        steps=STEPS,
        delta=visit.sent.text("delta"),
        n=visit.sent.text("n") or _assumed(view),
        names=sayable(),
        balances=balances_shown(view.balances),
        preview=about,
        refusal=refusal,
        broken=_broken([view]),
    )


def asked(visit: Visit) -> PageReply:
    """Ask what was shown, at the price that was shown, and go on to the answer."""
    try:
        question = json.loads(visit.form.text("question"))
    except (ValueError, RecursionError):
        raise ParameterError("ask", "the question cannot be read", "Send it from the builder.") from None
    epsilon, delta = visit.form.number("epsilon"), visit.form.number("delta")
    if epsilon is None or not visit.form.text("key"):
        raise ParameterError("ask", "there is no price or no key", "Send it from the builder.")
    found = visit.site.ask_early(
        visit.user, visit.named["name"], question, epsilon=epsilon, delta=delta or 0.0, key=visit.form.text("key")
    )
    return visit.seen(f"/answers/{found.id}", found.due)


def _preview(visit: Visit, view: DataSetView, choice: QuestionChoice) -> dict[str, Any]:
    """What a choice would cost and be worth, with the same question as words, SQL and Python."""
    question = {"statistic": choice.statistic, "options": choice.question().options}
    about = _preview_of(visit, view, question, choice.step, choice.delta)
    return about | {
        "title": choice.title,
        "python": choice.python(view.name, visit.address),
        "sql": choice.sql(view.name),
    }


def _preview_of(visit: Visit, view: DataSetView, question: Any, step: int, delta: float) -> dict[str, Any]:
    """What any question would cost and be worth: planned from public facts, by this process, which has no record."""
    n, epsilon = visit.sent.whole("n") or view.units or view.assumed, epsilon_at(step)
    within = visit.sent.number("within")
    found = visit.site.plan(visit.user, view.name, question, epsilon=epsilon, delta=delta, n=n)
    prices = curve_prices()
    errors = _curve(visit, view, question, delta, n)
    curve = markup(error_curve(prices, errors, epsilon, found.expectations[0].error)) if errors else ""
    return {
        "title": question if isinstance(question, str) else "",
        "epsilon": f"{epsilon:g}",
        "delta": f"{delta:g}",
        "rows": [_row(one) for one in found.expectations],
        "times": found.expectations[0].times,
        "n": f"{found.n:,}",
        "curve": curve,
        "enough": _enough(visit, view, question, delta, n, within),
        "within": "" if within is None else f"{within:g}",
        "waits": view.above is not None and epsilon > view.above and visit.user.role != "curator",
        "asks": visit.user.role != "auditor" and not view.frozen and not view.trouble,
        "question": json.dumps(question),
        "key": f"console-{secrets.token_hex(8)}",
        "python": None,
        "sql": None,
    }


def _curve(visit: Visit, view: DataSetView, question: Any, delta: float, n: int | None) -> list[float]:
    """The error at each price of the curve: it follows from public facts, and is remembered."""
    if isinstance(question, str) and question.split(" ", 1)[0] in ("report", "profile", "synthesize"):
        return []  # many figures, and long to try
    about = (view.name, json.dumps(question, sort_keys=True), delta, n)
    with LOCK:
        if about in CURVES:
            return CURVES[about]
    found = visit.site.plan(visit.user, view.name, question, epsilon=curve_prices(), delta=delta, n=n)
    errors = _first_figure(found)
    with LOCK:
        CURVES[about] = errors
        while len(CURVES) > REMEMBERED:
            CURVES.popitem(last=False)
    return errors


def _first_figure(found: Forecast) -> list[float]:
    first = found.expectations[0].question
    return [one.error for one in found.expectations if one.question == first]


def _enough(
    visit: Visit, view: DataSetView, question: Any, delta: float, n: int | None, within: float | None
) -> str | None:
    """The least price for which the error is small enough."""
    if within is None:
        return None
    found = visit.site.plan(visit.user, view.name, question, for_error=within, delta=delta, n=n)
    return f"{found.epsilon:.2g}" if math.isfinite(found.epsilon) else ""


def _row(one: Expectation) -> tuple[str, str, str]:
    error = error_bar(one.error) if math.isfinite(one.error) else "unknown"
    span = "" if one.high <= 1.1 * one.low else f"{error_bar(one.low)} to {error_bar(one.high)}"
    return one.question, f"± {error}", span


def _assumed(view: DataSetView) -> str:
    known = view.units or view.assumed
    return "" if known is None else str(known)


def _step(visit: Visit) -> int:
    step = visit.sent.whole("step")
    return USUAL_STEP if step is None else min(max(step, 0), STEPS)


def _broken(views: list[DataSetView]) -> str:
    """What is wrong with ledgers, or with places of records, and who must do what."""
    troubled = [one for one in views if one.trouble]
    if not troubled:
        return " ".join(f"{one.name}: {one.unopened}" for one in views if one.unopened)
    names = ", ".join(one.name for one in troubled)
    return (
        f"The ledger of {names} cannot be used, so nothing can be asked there. Its owner compares it with its newest "
        "head, restores the newest intact copy, and a curator opens it again. Paid answers stay paid."
    )
