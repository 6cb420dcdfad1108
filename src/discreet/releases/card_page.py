"""A privacy card as a web page: one file, no script, nothing from a network, everything escaped."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from discreet.core.events import written
from discreet.display.document import document, framed
from discreet.display.notebook import safe, unbroken

if TYPE_CHECKING:
    from discreet.releases.privacy_card import PrivacyCard

NOT_PRIVATE = "<p class='warning'><b>Not private.</b> Its noise can be replayed by whoever knows its seed.</p>"


def page(card: PrivacyCard, signed: Mapping[str, str] | None = None) -> str:
    """The card as a whole document, with who signed it, if anybody did."""
    return document(f"Privacy card: {card.about}", fragment(card, signed))


def fragment(card: PrivacyCard, signed: Mapping[str, str] | None = None) -> str:
    """The card as a part of another document, whose sheet it needs."""
    head = f"<header><p class='kicker'>Privacy card</p><h1>{safe(card.about)}</h1></header>"
    lines = {name: text for name, text in card.lines().items() if name != "of"} | {"event": written(card.event)}
    promise = f"<section><h2>What is promised</h2>{rows(lines)}</section>"
    proof = f"<section><h2>Signature (Ed25519)</h2>{rows(signed)}</section>" if signed else ""
    return framed(head, "" if card.secret else NOT_PRIVATE, promise, _from_schema(card.public), _open(card), proof)


def rows(lines: Mapping[str, str]) -> str:
    """Names and texts, a row for each."""
    drawn = (f"<tr><th scope='row'>{safe(name)}</th><td>{unbroken(text)}</td></tr>" for name, text in lines.items())
    return f"<table class='promise'>{''.join(drawn)}</table>"


def limits(sentences: Iterable[str]) -> str:
    """What is not protected, as a list."""
    return f"<ul>{''.join(f'<li>{safe(one)}</li>' for one in sentences)}</ul>"


def _from_schema(public: Mapping[str, str]) -> str:
    head = "<section><h2>Taken from the schema, not from the data</h2>"
    return f"{head}{rows(public)}</section>" if public else ""


def _open(card: PrivacyCard) -> str:
    return f"<section class='notes'><h2>What is not protected</h2>{limits(card.limits)}</section>"
