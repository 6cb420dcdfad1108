"""What parties agree on: terms that protect somebody, and a digest of all of it."""

from __future__ import annotations

import dataclasses

import pytest

from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.neighbors import Neighbors, Unit
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.noise.system_bits import system_bits
from discreet.schema.schema import Category, Column, Number, Schema, Text
from discreet.trust.federation import Federation

PEOPLE = {name: Identity.drawn(name, system_bits()) for name in ("a", "b", "c", "d", "e", "server")}
CARDS = {name: PartyCertificate.of(one) for name, one in PEOPLE.items()}
COLUMNS: dict[str, Column] = {"age": Number(0, 120), "sex": Category(("f", "m")), "town": Text()}
AGREED = Federation(
    (CARDS["a"], CARDS["b"], CARDS["c"], CARDS["d"]), CARDS["server"], 3, Schema(COLUMNS), Unit("user", "town", 2)
)


def test_members_and_keys_are_on_the_roster() -> None:
    assert AGREED.names == ("a", "b", "c", "d")
    assert AGREED.roster.keys == {name: PEOPLE[name].public for name in ("server", "a", "b", "c", "d")}


@pytest.mark.parametrize(("threshold", "colluding"), [(3, 0), (3, 1), (4, 0), (4, 3)])
def test_so_many_honest_parties_are_surely_in_every_sum(threshold: int, colluding: int) -> None:
    """What colludes may all survive; who is honest may all drop out, down to the threshold."""
    agreed = dataclasses.replace(AGREED, threshold=threshold, colluding=colluding)
    assert agreed.honest == threshold - colluding >= 1


@pytest.mark.parametrize(
    "wrong",
    [
        {"threshold": 2},
        {"threshold": 5},
        {"threshold": 0},
        {"colluding": -1},
        {"colluding": 2},
        {"parties": (CARDS["a"],), "threshold": 1},
        {"parties": ()},
        {"parties": (CARDS["a"], CARDS["a"], CARDS["b"]), "threshold": 2},
        {"parties": (CARDS["a"], CARDS["b"], CARDS["server"]), "threshold": 2},
        {"neighbors": Neighbors.REPLACE},
    ],
)
def test_terms_that_protect_nobody_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(DiscreetError):
        dataclasses.replace(AGREED, **wrong)  # type: ignore[arg-type]


def test_a_party_that_counts_farther_agreed_on_something_else() -> None:
    """How much a party may have decides how numbers are sent, and where they are cut off."""
    assert len({dataclasses.replace(AGREED, largest=largest).digest for largest in (None, 5, 6)}) == 3


def test_nobody_has_two_seats() -> None:
    """Whoever held two keys' worth of shares under two names would count as two honest parties."""
    twin = PartyCertificate.of(Identity("twin", PEOPLE["a"].secret))
    with pytest.raises(ParameterError, match="two members have the same key"):
        dataclasses.replace(AGREED, parties=(*AGREED.parties, twin))
    double = PartyCertificate.of(Identity("asker", PEOPLE["a"].secret))
    with pytest.raises(ParameterError, match="two members have the same key"):
        dataclasses.replace(AGREED, server=double)


def test_the_digest_covers_all_that_was_agreed_on() -> None:
    other = PartyCertificate.of(Identity.drawn("a", system_bits()))
    asker = PartyCertificate.of(Identity("asker", PEOPLE["server"].secret))
    changes: list[dict[str, object]] = [
        {"parties": (other, *AGREED.parties[1:])},
        {"parties": (*AGREED.parties, CARDS["e"])},
        {"server": CARDS["e"]},
        {"server": asker},
        {"threshold": 4},
        {"colluding": 1},
        {"unit": Unit("user", "town", 3)},
        {"unit": Unit("user", "age", 2)},
        {"unit": Unit()},
        {"neighbors": Neighbors.REPLACE, "threshold": 4},
    ]
    columns: list[dict[str, Column]] = [
        {**COLUMNS, "age": Number(0, 121)},
        {**COLUMNS, "age": Number(-1, 120)},
        {**COLUMNS, "sex": Category(("f", "m", "x"))},
        {**COLUMNS, "sex": Category(("m", "f"))},
        {**COLUMNS, "sex": Text()},
        {"age": COLUMNS["age"], "town": COLUMNS["town"]},
        {"sex": COLUMNS["sex"], "age": COLUMNS["age"], "town": COLUMNS["town"]},
        {"Age": COLUMNS["age"], "sex": COLUMNS["sex"], "town": COLUMNS["town"]},
    ]
    changes += [{"schema": Schema(one)} for one in columns]
    digests = {dataclasses.replace(AGREED, **change).digest for change in changes}  # type: ignore[arg-type]
    assert len(digests | {AGREED.digest}) == 1 + len(changes)


def test_the_digest_does_not_depend_on_the_order_of_the_parties() -> None:
    turned = dataclasses.replace(AGREED, parties=tuple(reversed(AGREED.parties)))
    assert turned.digest == AGREED.digest


def test_the_terms_of_a_round_are_those_of_the_federation() -> None:
    terms = AGREED.terms("r1", 7, b"about")
    assert (terms.parties, terms.threshold, terms.server) == (AGREED.names, 3, "server")
    assert (terms.round, terms.size, terms.about) == ("r1", 7, b"about")
