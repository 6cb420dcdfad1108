"""What answers give away, and what is left of it under a cap: scores rebuild templates, decisions hardly help."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted
from discreet.crypto.matching.match_parameters import Vectors
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.trust.matching.match_account import MatchAccount
from tests.crypto.matching.made_galleries import key_of, made_templates, matcher_of

WIDTH, PEOPLE, THRESHOLD = 32, 40, 0.6
ROWS = made_templates(PEOPLE, WIDTH)


class Oracle:
    """Answers with rounded scores, or with a decision, as often as its account allows."""

    def __init__(self, folder: Path, most: int) -> None:
        self.key = key_of(WIDTH)
        self.matcher: Matcher = matcher_of(folder / "faces", ROWS, self.key)
        self.account = MatchAccount(MemoryLedger(Budget(1.0)), "a test of attacks", most)
        self.asked = 0

    def scores(self, vector: Vectors) -> Vectors:
        self._count()
        return self.matcher.answer(SealedQuery.by_owner(vector, self.key)).opened(self.key).rounded

    def decision(self, vector: Vectors) -> bool:
        self._count()
        return self.matcher.answer(SealedQuery.by_owner(vector, self.key)).opened(self.key).is_match(THRESHOLD)

    def _count(self) -> None:
        self.account.count("mallory", f"{self.asked:032x}")
        self.asked += 1


def rebuilt(oracle: Oracle) -> Vectors:
    """All templates at once: each answer is one linear equation for each of them."""
    asked, heard = [], []
    for direction in np.linalg.qr(np.random.default_rng(1).normal(size=(WIDTH, WIDTH)))[0]:
        try:
            heard.append(oracle.scores(direction))
        except NotPermitted:
            break
        asked.append(direction)
    found = np.linalg.lstsq(np.array(asked), np.array(heard), rcond=None)[0].T
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_as_many_answers_as_numbers_rebuild_all_templates_and_the_cap_ends_it(tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    free, capped = Oracle(tmp_path, most=WIDTH), Oracle(tmp_path / "few", most=WIDTH // 8)
    found = (rebuilt(free) * ROWS).sum(axis=1)
    assert found.min() > 0.99
    found = (rebuilt(capped) * ROWS).sum(axis=1)
    assert capped.asked == WIDTH // 8
    assert np.median(found) < 0.45  # about the root of an eighth: whoever asks for a few directions knows these
    assert (found >= THRESHOLD).mean() < 0.1


def climbed(oracle: Oracle, target: int, steps: int) -> float:
    """Hill climbing on the score of one template: how near the best vector comes."""
    rng = np.random.default_rng(2)
    best, score = rng.normal(size=WIDTH), -1.0
    best /= np.linalg.norm(best)
    for _ in range(steps):
        tried = best + rng.normal(size=WIDTH) * 0.12
        tried /= np.linalg.norm(tried)
        try:
            heard = float(oracle.scores(tried)[target])
        except NotPermitted:
            break
        if heard > score:
            best, score = tried, heard
        if score >= 1.05 * THRESHOLD:
            break
    return float(best @ ROWS[target])


def test_hill_climbing_on_scores_gets_in_and_under_the_cap_it_does_not(tmp_path: Path) -> None:
    (tmp_path / "few").mkdir()
    assert climbed(Oracle(tmp_path, most=400), target=3, steps=300) >= THRESHOLD
    capped = Oracle(tmp_path / "few", most=WIDTH // 8)
    assert climbed(capped, target=3, steps=300) < THRESHOLD
    assert capped.asked == WIDTH // 8


def test_decisions_alone_show_no_direction_to_climb(tmp_path: Path) -> None:
    oracle = Oracle(tmp_path, most=20)
    rng = np.random.default_rng(3)
    heard = [oracle.decision(rng.normal(size=WIDTH)) for _ in range(20)]
    assert not any(heard)
    with pytest.raises(NotPermitted, match="20 are the most"):
        oracle.decision(ROWS[0])
