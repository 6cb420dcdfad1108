"""Privacy cards: of whatever was released; they say what is promised and what is not, and a false one is refused."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError, Unaccountable
from discreet.core.events import Composed, GaussianLoss, LaplaceLoss, NoPromise, PureLoss, Sampled, written
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.crypto.errors import BadSignature, UnknownParty
from discreet.crypto.identity import Identity, Roster
from discreet.display.document import STYLE, source_of
from discreet.noise.system_bits import system_bits
from discreet.releases.card_of import privacy_card
from discreet.releases.privacy_card import PrivacyCard
from discreet.releases.signed_card import SignedCard
from discreet.trust.private_data import PrivateData
from tests.query.test_page import HOSTILE, read

HOSPITAL, OTHER = (Identity.drawn(name, system_bits()) for name in ("hospital", "other"))
ROSTER = Roster.of([HOSPITAL])
EVENTS = (
    PureLoss(0.5),
    GaussianLoss(4.0),
    Composed((LaplaceLoss(8.0), GaussianLoss(9.0))),
    Sampled(GaussianLoss(1.0), 0.01),
)


def private(**more: Any) -> PrivateData:
    rows = {"age": np.full(500, 30.0), "sex": ["f", "m"] * 250}
    return PrivateData.of(rows, {"age": (0, 110), "sex": ["f", "m"]}, Budget(4.0, 1e-6), **more)


def card_of(event: Any = EVENTS[0], **more: Any) -> PrivacyCard:
    delta = 0.0 if isinstance(event, PureLoss) else 1e-6
    known = {"about": "mean of age", "kind": "release", "neighbors": Neighbors.ADD_REMOVE, "unit": RECORD}
    price = discreet.accounting.epsilon(event, delta)
    return PrivacyCard(
        **{**known, "event": event, "epsilon": price, "delta": delta, "key": "k", "head": "0" * 64, **more}
    )


def test_everything_that_is_released_has_a_card() -> None:
    data = private()
    table = discreet.synthesize(data, epsilon=0.5, delta=1e-7)
    model = discreet.learners.GaussianNB(epsilon=0.5, target="sex").fit(data)
    made: dict[str, Any] = {"release": discreet.mean(data, "age", epsilon=0.25), "table": table, "model": model}
    for kind, one in made.items():
        card = privacy_card(one, data)
        receipt = model.receipt_ if kind == "model" else one.receipt
        assert (card.kind, card.event, card.epsilon) == (kind, receipt.event, receipt.epsilon)
        assert (card.key, card.head, card.unit) == (receipt.key, receipt.head, data.unit)
        assert card.public == {"age": "0 to 110", "sex": "f, m"}
        assert PrivacyCard.read(card.to_json()) == card
    report = discreet.profile(data, Budget(0.5, 1e-7), title="patients")
    assert privacy_card(report).about == report.receipt.purpose
    whole = privacy_card(data)
    assert (whole.kind, whole.together, whole.epsilon) == ("account", True, data.ledger.balance().certified)
    assert whole.facts == {"charges": "4"}


def test_what_is_open_follows_from_the_unit_and_the_relation() -> None:
    every = " ".join(card_of().limits)
    assert "row by row only" in every
    assert "number of records" not in every
    users = " ".join(card_of(unit=Unit("user", column="who", rows=3), neighbors=Neighbors.REPLACE).limits)
    assert "row by row" not in users
    assert "The number of records is public." in users


def test_a_condition_and_noise_that_is_known_are_told() -> None:
    data = private()
    found = discreet.count(data.where("age >= 65"), epsilon=0.5)
    assert privacy_card(found).facts == {"records": "those where age >= 65"}
    open_card = card_of(secret=False)
    assert "NOT PRIVATE" in str(open_card)
    assert "Not private." in open_card.to_html()
    assert "Not private." not in card_of().to_html()


def test_what_has_no_receipt_has_no_card() -> None:
    for made in (None, 3.0, discreet.learners.KMeans(2)):
        with pytest.raises(ParameterError, match="no receipt"):
            privacy_card(made)


def test_a_card_is_a_page_that_loads_and_runs_nothing() -> None:
    hostile = card_of(
        about=HOSTILE, public={HOSTILE: HOSTILE}, facts={HOSTILE: HOSTILE}, key=HOSTILE, versions={HOSTILE: HOSTILE}
    )
    for text in (hostile.to_html(), SignedCard.of(hostile, HOSPITAL).to_html()):
        tags = read(text)
        assert not {"script", "link", "img", "a"} & {tag for tag, _ in tags.found}
        assert not any(name == "style" or name.startswith("on") for _, some in tags.found for name in some)
        assert f"style-src {source_of(STYLE)}" in text
        assert sum("alert('x')" in words for words in tags.words) >= 6
        assert "\x1b" not in text
    assert SignedCard.of(hostile, HOSPITAL).signature.hex() in SignedCard.of(hostile, HOSPITAL).to_html()


def test_a_card_that_states_less_than_its_event_costs_is_refused() -> None:
    for event in EVENTS:
        true = card_of(event)
        assert PrivacyCard.read(true.to_json()) == true
        less = true.to_dict() | {"epsilon": 0.9 * true.epsilon}
        with pytest.raises(ParameterError, match="its event costs"):
            PrivacyCard.read(json.dumps(less))
        forged = card_of(event, epsilon=0.9 * true.epsilon)
        with pytest.raises(ParameterError, match="its event costs"):  # whoever signed it
            SignedCard.read(SignedCard.of(forged, HOSPITAL).to_json(), ROSTER)
    free = card_of().to_dict() | {"event": json.loads(written(NoPromise("swapped")))}
    with pytest.raises(Unaccountable):
        PrivacyCard.read(json.dumps(free))
    honest = PrivacyCard.read(json.dumps(free | {"epsilon": None}))
    assert "no promise" in str(honest)


WRONG = {
    "discreet.card": 2,
    "kind": "promise",
    "epsilon": float("nan"),
    "delta": 1.0,
    "neighbors": "nobody",
    "unit": {"kind": "king"},
    "secret": "yes",
    "together": 1,
    "about": 3,
    "public": {"age": 3},
    "facts": [],
    "versions": None,
    "not_protected": ["Nothing."],
    "account": {"epsilon": -1.0, "delta": 0.0, "certified": 0.0},
    "event": {"kind": "free"},
}


def test_what_is_no_card_is_refused() -> None:
    for name, wrong in WRONG.items():
        with pytest.raises(ParameterError):
            PrivacyCard.read(json.dumps(card_of().to_dict() | {name: wrong}))
    for text in ("", "[]", "3", "{}", "[" * 100_000, json.dumps(card_of().to_dict())[:-1], " " * (2**22 + 1)):
        with pytest.raises(ParameterError, match="not the JSON"):
            PrivacyCard.read(text)
        with pytest.raises(ParameterError, match="not the JSON"):
            SignedCard.read(text, ROSTER)


def test_a_signed_card_is_theirs_who_signed_it_and_unchanged() -> None:
    signed = SignedCard.of(card_of(EVENTS[2], facts={"error": "± 0.3"}), HOSPITAL)
    assert SignedCard.read(signed.to_json(), ROSTER) == signed
    stated = json.loads(signed.to_json())
    for name, other in {"about": "mean of sex", "epsilon": 9.0, "head": "1" * 64, "facts": {}, "secret": False}.items():
        with pytest.raises(BadSignature):
            SignedCard.read(json.dumps(stated | {name: other}), ROSTER)
    with pytest.raises(UnknownParty):
        SignedCard.read(SignedCard.of(signed.card, OTHER).to_json(), ROSTER)
    renamed = stated | {"signed": stated["signed"] | {"by": "other"}}
    with pytest.raises(BadSignature):
        SignedCard.read(json.dumps(renamed), Roster.of([HOSPITAL, OTHER]))
    with pytest.raises(BadSignature):
        SignedCard.read(signed.to_json(), Roster({"hospital": OTHER.public}))
    twice = Roster({"hospital": HOSPITAL.public, "other": HOSPITAL.public})  # one key, two names
    with pytest.raises(BadSignature):
        SignedCard.read(json.dumps(renamed), twice)


def test_a_card_says_nothing_of_the_records() -> None:
    near = [PrivateData.of({"age": np.full(size, 30.0)}, {"age": (0, 110)}, Budget(1.0)) for size in (500, 501)]
    cards = [privacy_card(discreet.count(data, epsilon=0.5, key="k"), data).to_dict() for data in near]
    for card in cards:
        card.pop("head")  # of a result that has noise
    assert cards[0] == cards[1]
