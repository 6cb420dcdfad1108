"""Pages for anybody: the way in and out, and a tour on the made-up sample."""

from __future__ import annotations

import threading
from dataclasses import replace
from http import HTTPStatus

from discreet.core.errors import DiscreetError
from discreet.service.console.tour import LAST, chapter
from discreet.service.console.visit import SESSION, VISITOR, PageReply, Visit
from discreet.service.server.site_refusals import TooMany

STRANGERS = threading.BoundedSemaphore(4)  # keys that are looked at through scrypt


def home(visit: Visit) -> PageReply:
    """Where somebody who is known begins; others are asked who they are."""
    return sign_in(visit) if visit.caller is None else visit.seen("/data")


def sign_in(visit: Visit, status: HTTPStatus = HTTPStatus.OK, refusal: DiscreetError | None = None) -> PageReply:
    """The form in which a key is given."""
    return visit.page("sign_in", status.value, refusal=refusal)


def signed_in(visit: Visit) -> PageReply:
    """A session for the holder of a key; refused alike, whatever is wrong with it."""
    if not STRANGERS.acquire(blocking=False):
        raise TooMany("sign in", "too many keys are being looked at", "Wait a little.")
    try:
        session = visit.site.login(visit.form.text("key"))
    finally:
        STRANGERS.release()
    return replace(visit.seen("/data"), cookies={SESSION: session.token, VISITOR: None})


def signed_out(visit: Visit) -> PageReply:
    """The end of a session."""
    assert visit.session is not None
    visit.site.logout(visit.session.token)
    return replace(visit.seen("/sign-in"), cookies={SESSION: None})


def tour(visit: Visit) -> PageReply:
    """A chapter of the tour: on made-up records, which are about nobody, with an account of its own."""
    step = min(max(int(visit.named.get("step", "1")), 1), LAST)
    template, about = chapter(step, visit.sent)
    return visit.page("tour_part" if visit.part else "tour", **about, step=step, last=LAST, chapter=template)
