"""Commitments bind a dealer to the numbers that it dealt, show nothing, and are opened to no others."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.crypto.errors import Disagreement, Malformed, ProtocolError
from discreet.crypto.odo.commitments import HIDING, ORDER, CombinedNumbers, NumberOpening, committed_to, is_combination
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.share_dealing import ShareDealing
from discreet.crypto.odo.transcript import Transcript
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.odo.cheats import Cheat, Fate, NotABit
from tests.crypto.odo.rehearsal import OdoRehearsal, known, numbers_of, terms_of

TERMS = dataclasses.replace(terms_of(4, 1, size=3, coins=0, largest=1000, offset=400), committed=True)


class CommitsToOthers(Cheat):
    """Commits to one more than it deals, and says what the combination of its shares is."""

    fate: ClassVar[Fate] = "counts"

    def _dealt(self, numbers: Steps) -> ShareDealing:
        dealing = super()._dealt(numbers)
        assert dealing.opening is not None
        true = dealing.opening
        false = dataclasses.replace(true, numbers=(true.numbers[0] + 1, *true.numbers[1:]))
        points = false.commitments
        return dataclasses.replace(dealing, opening=_Lying(true.numbers, true.blinds, points))


@dataclasses.dataclass(frozen=True)
class _Lying(NumberOpening):
    points: bytes = b""

    @property
    def commitments(self) -> bytes:
        return self.points


class CommitsToFewer(Cheat):
    """Commits to all numbers but one."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        dealing = super()._dealt(numbers)
        assert dealing.opening is not None
        points = dealing.opening.commitments[32:]
        return dataclasses.replace(dealing, opening=_Lying(dealing.opening.numbers, dealing.opening.blinds, points))


class SaysAnotherSum(Cheat):
    """Commits to one more than it deals, and says the combination of what it committed to."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        dealing = super()._dealt(numbers)
        assert dealing.opening is not None
        own = dealing.opening.numbers
        return dataclasses.replace(
            dealing, opening=dataclasses.replace(dealing.opening, numbers=(own[0] + 1, *own[1:]))
        )


def run_of(cheat: type | None = None) -> OdoRehearsal:
    run = OdoRehearsal(TERMS, {} if cheat is None else {"p2": cheat})
    run.run()
    return run


def transcript(run: OdoRehearsal) -> Transcript:
    return Transcript.from_bytes(run.relay.transcript())


def test_a_party_shows_its_own_numbers_and_no_others() -> None:
    run = run_of()
    found = transcript(run)
    assert found.verified(known()).survivors == TERMS.parties
    assert found.unbound(known()) == ()
    openings = {name: member.opening for name, member in run.members.items()}
    for name, data in openings.items():
        assert data is not None
        assert found.opened(known(), name, data) == (numbers_of(TERMS, name) - 400).tolist()
    with pytest.raises(Disagreement, match=r"opening of 'p1'.*not what they committed to"):
        found.opened(known(), "p1", openings["p0"] or b"")
    own = NumberOpening.from_bytes(openings["p1"] or b"", TERMS.size + TERMS.links)
    other = dataclasses.replace(own, numbers=(own.numbers[0] + 1, *own.numbers[1:]))
    with pytest.raises(Disagreement, match="not what they committed to"):
        found.opened(known(), "p1", other.to_bytes())
    for junk in (b"", b"\0" * 40):
        with pytest.raises(ProtocolError):
            found.opened(known(), "p1", junk)
    assert OdoRehearsal(terms_of(4, 1)).members["p0"].opening is None


def test_false_commitments_are_found_by_the_round_or_by_whoever_checks() -> None:
    for cheat, words in ((CommitsToFewer, "has not committed"), (SaysAnotherSum, "what it says of its commitments")):
        run = run_of(cheat)
        assert words in run.relay.refuted["p2"]
    run = run_of(CommitsToOthers)
    assert run.relay.refuted == {}
    found = transcript(run)
    assert found.unbound(known()) == ("p2",)
    data = run.members["p2"].opening
    assert data is not None
    with pytest.raises(Disagreement, match="opening of 'p2'"):
        found.opened(known(), "p2", data)
    assert transcript(run_of(NotABit)).unbound(known()) == ()


def test_a_commitment_beyond_the_range_cannot_be_opened() -> None:
    """One prime more has the same remainder: it passes the test, and is not a number of the range."""

    class OnePrimeMore(Cheat):
        def _dealt(self, numbers: Steps) -> ShareDealing:
            dealing, prime = super()._dealt(numbers), self.terms.field.prime
            assert dealing.opening is not None
            own = dealing.opening.numbers
            more = dataclasses.replace(dealing.opening, numbers=(own[0] + prime, *own[1:]))
            return dataclasses.replace(dealing, opening=more)

    run = run_of(OnePrimeMore)
    found = transcript(run)
    assert found.unbound(known()) == ()
    with pytest.raises(Disagreement, match="opening of 'p2'"):
        found.opened(known(), "p2", run.members["p2"].opening or b"")


def test_commitments_add_up_and_hide() -> None:
    points = [committed_to(3, 10), committed_to(0, 20), committed_to(5, ORDER - 1)]
    assert is_combination(points, [2, 7, 1], 2 * 3 + 5, 2 * 10 + 7 * 20 - 1)
    assert not is_combination(points, [2, 7, 1], 12, 159)
    assert not is_combination([*points[:2], b"\1" * 32], [2, 7, 1], 11, 159)
    assert not is_combination([*points[:2], bytes(32)], [2, 7, 0], 6, 160)
    first, second = (NumberOpening.drawn(DeterministicBits(seed), [5, 5], 2) for seed in (1, 2))
    assert len({first.commitments[at : at + 32] for at in range(0, 128, 32)}) == 4
    assert first.commitments != second.commitments
    assert all(0 < number < 2**HIDING for number in first.numbers[2:])
    assert "5" not in repr(first)


class HalfAPoint(Cheat):
    """Sends commitments of which the last one lacks some bytes."""

    def _dealt(self, numbers: Steps) -> ShareDealing:
        dealing = super()._dealt(numbers)
        assert dealing.opening is not None
        points = dealing.opening.commitments[:-5]
        return dataclasses.replace(dealing, opening=_Lying(dealing.opening.numbers, dealing.opening.blinds, points))


def test_bytes_that_are_no_commitments_are_refused_and_break_nothing() -> None:
    run = run_of(HalfAPoint)
    assert "has not committed" in run.relay.refuted["p2"]
    found = transcript(run)
    count = TERMS.size + TERMS.links
    nothing = NumberOpening((0,) * count, (0,) * count).to_bytes()
    for name in ("p1", "p2", "p9"):
        with pytest.raises(ProtocolError):
            found.opened(known(), name, nothing)
    assert committed_to(0, 0) == (1).to_bytes(32, "little")
    assert is_combination([committed_to(2, 3)], [0], 0, 0)


def test_links_that_cannot_be_are_refused() -> None:
    for data in (b"", bytes(63), b"\xff" * 64, (ORDER).to_bytes(64, "little")[32:] + ORDER.to_bytes(32, "little")):
        with pytest.raises(Malformed):
            CombinedNumbers.from_bytes(data)
    with pytest.raises(ParameterError, match="coins are too many"):
        OdoTerms("r1", TERMS.parties, 3, 3, coins=2, committed=True)
    assert TERMS.digest != dataclasses.replace(TERMS, committed=False).digest
    assert np.array_equal(transcript(run_of()).vector, run_of().relay._proceedings.total(DeterministicBits(1)).vector)
