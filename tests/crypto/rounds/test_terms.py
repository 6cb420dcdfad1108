from __future__ import annotations

import dataclasses
import itertools
from concurrent.futures import ThreadPoolExecutor

import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import RoundReused, TooFewSurvivors, UnknownParty
from discreet.crypto.rounds.terms import Terms, UsedRounds

TERMS = Terms("r1", ("cas", "ann", "bob"), 2, 10)
KEY = bytes(range(32))


def test_parties_are_in_one_order() -> None:
    assert TERMS.parties == ("ann", "bob", "cas")
    assert [TERMS.index(name) for name in TERMS.parties] == [1, 2, 3]
    assert Terms("r1", ("bob", "ann", "cas"), 2, 10).digest == TERMS.digest


def test_every_term_is_in_the_digest() -> None:
    others = [
        TERMS,
        dataclasses.replace(TERMS, round="r2"),
        dataclasses.replace(TERMS, parties=("ann", "bob", "dan")),
        dataclasses.replace(TERMS, threshold=3),
        dataclasses.replace(TERMS, size=11),
        dataclasses.replace(TERMS, server="other"),
    ]
    assert len({one.digest for one in others}) == len(others)


@pytest.mark.parametrize("parties", range(2, 9))
def test_a_lying_server_cannot_have_two_lists_signed(parties: int) -> None:
    """Among all thresholds: no two sets of signers without an honest party in common, and one colluder more has."""
    for threshold in range(max(2, parties // 2 + 1), parties + 1):
        terms = Terms("r1", tuple("abcdefghij"[:parties]), threshold, 1)
        sets = list(itertools.combinations(range(parties), threshold))
        fewest = min(len(set(one) & set(other)) for one in sets for other in sets)
        assert terms.colluders == fewest - 1
        assert terms.dropouts + terms.threshold == parties
        assert terms.deal.threshold == threshold - 1


@pytest.mark.parametrize("change", [{"threshold": 1}, {"threshold": 4}, {"size": 0}, {"size": 1 << 32}, {"round": ""}])
def test_terms_that_cannot_be_kept_are_refused(change: dict[str, int]) -> None:
    with pytest.raises(ParameterError):
        dataclasses.replace(TERMS, **change)  # type: ignore[arg-type]


def test_half_of_the_parties_are_not_enough() -> None:
    with pytest.raises(ParameterError, match="more than half"):
        Terms("r1", ("a", "b", "c", "d"), 2, 1)


def test_names_stand_for_one() -> None:
    for parties in (("ann", "ann", "bob"), ("ann", "bob", "server")):
        with pytest.raises(ParameterError, match="have the same name"):
            Terms("r1", parties, 2, 1)


def test_strangers_have_no_index() -> None:
    with pytest.raises(UnknownParty, match="'eve' takes no part"):
        TERMS.index("eve")


def test_fewer_than_the_threshold_are_too_few() -> None:
    TERMS.check_enough("keys", 2)
    with pytest.raises(TooFewSurvivors, match="1 parties are left at the step of keys and 2 are needed") as refused:
        TERMS.check_enough("keys", 1)
    assert refused.value.values == {"count": 1, "threshold": 2}


def test_a_round_is_run_once() -> None:
    rounds = UsedRounds()
    rounds.claim("r1")
    rounds.claim("r2")
    with pytest.raises(RoundReused, match="'r1': it was run already"):
        rounds.claim("r1")


def test_of_many_threads_one_claims_a_round() -> None:
    rounds = UsedRounds()

    def won(_: int) -> bool:
        try:
            rounds.claim("r1")
        except RoundReused:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(won, range(64))) == 1
