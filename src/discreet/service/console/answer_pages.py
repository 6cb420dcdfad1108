"""Pages of answers: what was paid for, again and for nothing; its card, its file, and word of what is not there yet."""

from __future__ import annotations

import json
from http import HTTPStatus

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.query.asked_question import AskedQuestion
from discreet.query.rehearsed_attack import rehearsed_attack
from discreet.releases.card_of import account_card, kind_of
from discreet.releases.privacy_card import PrivacyCard
from discreet.releases.signed_card import SignedCard
from discreet.service.console.shown import ResultShown, question_title, questions_shown
from discreet.service.console.visit import PageReply, Visit
from discreet.service.server.site_answer import SiteAnswer
from discreet.service.server.site_refusals import no_such

USUAL = 1000  # records that are made up where nothing is known of their number


def answers(visit: Visit) -> PageReply:
    """Everything that this caller asked, the newest first."""
    visit.check_role("analyst", "curator")
    return visit.page("answers", asked=questions_shown(visit.site.own_asked(visit.user)))


def answer(visit: Visit) -> PageReply:
    """One answer, or what it waits for; the script asks again every two seconds, until it is there."""
    entry = visit.site.question(visit.user, visit.named["id"])
    found, refusal = None, None
    if entry.user == visit.user.name:
        try:
            found = visit.site.answer(visit.user, entry.id)
        except DiscreetError as why:
            refusal = why
    shown = questions_shown([entry])[0]
    waits = found is not None and not found.done
    about = {
        "entry": shown,
        "title": question_title(entry),
        "answer": found,
        "waits": waits,
        "own": entry.user == visit.user.name,
        "result": _shown(found) if found is not None and found.done else None,
        "receipt": {} if found is None or found.receipt is None else found.receipt.lines(),
        "attacked": found is not None and found.done and hasattr(found.released, "predict_proba"),
        "model": found is not None and found.done and kind_of(found.released) == "model",
        "refusal": refusal,
    }
    status = HTTPStatus.ACCEPTED if waits else HTTPStatus.OK
    return visit.page("answer_part" if visit.part else "answer", 200 if visit.part else status.value, **about)


def _shown(found: SiteAnswer) -> ResultShown:
    return ResultShown.of(found.released, found.text, found.result)


def result(visit: Visit) -> PageReply:
    """The released result as a file."""
    found = _own(visit)
    return PageReply.file(
        f"{found.data}-{found.id[:8]}.json", json.dumps(found.to_dict(), indent=1), "application/json"
    )


def card(visit: Visit) -> PageReply:
    """The privacy card of an answer: a page, or a file to keep, signed where the site has an identity."""
    found = _own(visit)
    assert found.receipt is not None
    view = visit.site.data_set(visit.user, found.data)
    made = PrivacyCard.of(found.receipt, kind_of(found.released), view.schema, view.balances.get("data set"))
    return _carded(visit, made, f"{found.data}-{found.id[:8]}-card")


def attack(visit: Visit) -> PageReply:
    """A report on attacks on a model like this one: rehearsed on made-up records, since this process has no others."""
    entry, found = visit.site.question(visit.user, visit.named["id"]), _own(visit)
    view = visit.site.data_set(visit.user, found.data)
    n = view.units or view.assumed or USUAL
    report = rehearsed_attack(
        AskedQuestion.read(entry.plain), Budget(entry.epsilon, entry.delta), view.schema, view.neighbors, view.unit, n
    )
    return PageReply.file(f"{found.data}-{found.id[:8]}-attacks.html", report.to_html(), "text/html")


def whole_card(visit: Visit) -> PageReply:
    """The privacy card of everything that was ever paid for a data set; analysts see their own charges alone."""
    visit.check_role("curator", "auditor")
    view = visit.site.data_set(visit.user, visit.named["name"])
    if view.trouble:
        raise no_such("card", view.name)
    entries = visit.site.whole_history(visit.user, view.name)
    balance = view.balances["data set"]
    made = account_card(view.schema, view.neighbors, view.unit, balance, entries)
    return _carded(visit, made, f"{view.name}-card")


def _own(visit: Visit) -> SiteAnswer:
    found = visit.site.answer(visit.user, visit.named["id"])
    if not found.done:
        raise no_such("file", visit.named["id"])
    return found


def _carded(visit: Visit, made: PrivacyCard, name: str) -> PageReply:
    """A card as a page of the console, or as a file, which is signed where the site has an identity."""
    signer = visit.site.identity
    kept = made if signer is None else SignedCard.of(made, signer)
    match visit.sent.text("as"):
        case "json":
            return PageReply.file(f"{name}.json", kept.to_json(), "application/json")
        case "html":
            return PageReply.file(f"{name}.html", kept.to_html(), "text/html")
        case _:
            named = "" if signer is None else signer.name
            return visit.page("card", card=made, lines=made.lines(), limits=made.limits, signer=named)
