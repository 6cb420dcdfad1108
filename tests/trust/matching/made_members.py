"""Everybody who takes part in matching, for tests."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np

from discreet.core.budget import Budget
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.register import Register
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.system_bits import system_bits
from discreet.trust.matching.gallery_keeper import GalleryKeeper
from discreet.trust.matching.match_account import MatchAccount
from discreet.trust.matching.match_judge import MatchJudge
from discreet.trust.matching.match_members import MatchMembers
from tests.crypto.matching.made_galleries import key_of, made_templates

ROWS = made_templates(6, 8)
NAMES = ("ann", "bob", "eve", "joe", "kim", "lee")
WAIVER = "a test"
THRESHOLD = 0.9


@cache
def identity(name: str) -> Identity:
    return Identity.drawn(name, system_bits())


def card(name: str) -> PartyCertificate:
    return PartyCertificate.of(identity(name))


def account(most: int = 20, daily: int | None = None) -> MatchAccount:
    return MatchAccount(MemoryLedger(Budget(1.0)), WAIVER, most, daily)


@dataclass
class Cast:
    """A keeper, a judge, and the desks that ask them."""

    key: MatchingKey
    register: Register
    keeper: GalleryKeeper
    judge: MatchJudge
    told: list[str]


def cast(folder: Path, most: int = 20, *, registered: bool = True) -> Cast:
    key, told = key_of(8), list[str]()
    gallery = Gallery.created(folder / "faces", key.parameters, key.keys.digest).enrolled(ROWS[:4], key)
    register = Register(key.keys.digest).enrolled(gallery, NAMES[:4])
    gallery = gallery.enrolled(ROWS[4:], key)
    register = register.enrolled(gallery, NAMES[4:])
    desks = (card("desk"), card("gate"))
    keeper = GalleryKeeper(
        identity("keeper"), Matcher(gallery, key.keys), MatchMembers(card("keeper"), desks), account(most)
    )
    judge = MatchJudge(
        identity("judge"),
        key,
        card("keeper"),
        MatchMembers(card("judge"), desks),
        THRESHOLD,
        account(most),
        register if registered else None,
        told.append,
    )
    return Cast(key, register, keeper, judge, told)


def near(template: int) -> np.ndarray:
    return np.asarray(ROWS[template] + 0.02)
