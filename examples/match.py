"""A door that knows ten thousand made-up people, and a keeper, a judge and a desk of which none knows them all.

The keeper has encrypted templates and reads nothing. The desk asks about whoever stands there and is told yes or no.
The judge has the key and sees scores without names. Then the desk tries made-up faces, and the cap ends it.

Run: python examples/match.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import MatchParameters
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.template_reduction import TemplateReduction
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.system_bits import system_bits
from discreet.trust.matching.gallery_keeper import GalleryKeeper
from discreet.trust.matching.match_account import MatchAccount
from discreet.trust.matching.match_judge import MatchJudge
from discreet.trust.matching.match_members import MatchMembers
from discreet.trust.matching.match_question import MatchQuestion

PEOPLE, NUMBERS, KEPT = 10_000, 256, 64
THRESHOLD, MOST = 0.7, 20
SPREAD = 1 / (1 + np.arange(NUMBERS) / 16)
WAIVER = "an example with made-up people"


def made_people(count: int, rng: np.random.Generator) -> np.ndarray:
    return rng.normal(size=(count, NUMBERS)) * SPREAD


def seen_again(person: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Another picture of the same person."""
    return np.asarray(person + 0.12 * rng.normal(size=NUMBERS))


def main() -> dict[str, Any]:
    rng = np.random.default_rng(0)
    people = made_people(PEOPLE, rng)
    reduction = TemplateReduction.learned(made_people(3000, rng), KEPT, "made-up people, others than those enrolled")
    key = MatchingKey.drawn(MatchParameters(KEPT))
    keeper, judge, desk = (Identity.drawn(name, system_bits()) for name in ("keeper", "judge", "desk"))
    cards = {one.name: PartyCertificate.of(one) for one in (keeper, judge, desk)}

    with tempfile.TemporaryDirectory() as folder:
        gallery = Gallery.created(Path(folder) / "faces", key.parameters, key.keys.digest, reduction.digest)
        gallery = gallery.enrolled(reduction.reduced(people), key)
        print(f"{gallery.templates} templates of {KEPT} numbers, {gallery.size / PEOPLE:.0f} bytes each")
        keeps = GalleryKeeper(
            keeper, Matcher(gallery, key.keys), MatchMembers(cards["keeper"], (cards["desk"],)), _account()
        )
        decides = MatchJudge(
            judge, key, cards["keeper"], MatchMembers(cards["judge"], (cards["desk"],)), THRESHOLD, _account()
        )

        def at_the_door(picture: np.ndarray) -> bool:
            template = reduction.reduced(picture)
            question = MatchQuestion.by_anybody(template, desk, cards["keeper"], key.keys)
            scores = keeps.answer(question.asked)
            return question.decision(decides.answer(question.to_judge(scores)), cards["judge"])

        known = [at_the_door(seen_again(people[place], rng)) for place in (7, 4321, 9999)]
        strangers = [at_the_door(one) for one in made_people(3, rng)]
        print(f"three who are enrolled: {known}; three strangers: {strangers}")
        tried = _climbs(at_the_door, rng)
        print(f"after {tried} more questions the desk was refused, with nothing but 'no' to climb on")
    return {"known": known, "strangers": strangers, "tried": tried}


def _account() -> MatchAccount:
    return MatchAccount(MemoryLedger(Budget(1e-9)), WAIVER, MOST)


def _climbs(at_the_door: Any, rng: np.random.Generator) -> int:
    """How many made-up pictures the desk can try before the cap."""
    tried = 0
    while True:
        try:
            assert not at_the_door(made_people(1, rng)[0])
        except NotPermitted:
            return tried
        tried += 1


if __name__ == "__main__":
    main()
