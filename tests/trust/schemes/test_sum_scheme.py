"""Schemes are found by name, say what they hide, and files that name none mean masks."""

from __future__ import annotations

import dataclasses

import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Schema
from discreet.trust.federation import Federation
from discreet.trust.schemes.sum_scheme import Quorum, scheme_named, sum_schemes
from tests.trust.network.stage import federation


def test_every_scheme_says_what_it_hides_and_has_a_protocol_of_its_own() -> None:
    found = sum_schemes()
    assert "masks" in found
    assert len({one.protocol for one in found.values()}) == len(found)
    assert all(name == one.name and one.hides.endswith(".") for name, one in found.items())


def test_an_unknown_scheme_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ParameterError, match=r"there is no scheme 'masked'.*masks"):
        dataclasses.replace(federation(), scheme="masked")


def test_a_federation_of_masks_has_the_digest_of_before_schemes_had_names() -> None:
    """It is in files, ledgers and every key of a round: these were computed before there was another scheme."""
    bits = DeterministicBits(1)
    server, *parties = (PartyCertificate.of(Identity.drawn(name, bits)) for name in ("server", "north", "south"))
    agreed = Federation(tuple(parties), server, 2, Schema.numeric(0.0, 1.0, 1))
    assert agreed.digest.hex() == "8a08cb47884a99efe994e9f87679ceb74b93e80c0753f4596ae02db31b5cbfe0"
    round = agreed.terms("r1", 3, b"about").digest.hex()
    assert round == "a4e62adc59b7c9f35e7bc32d8a30f1d74f36cffaef144e9d9110011241092084"


def test_masks_count_colluders_apart_from_those_who_leave() -> None:
    masks = scheme_named("masks")
    assert masks.honest(Quorum(5, 4, 2)) == 2
    masks.check(Quorum(5, 4, 2))
    with pytest.raises(ParameterError, match="At most 2 may"):
        masks.check(Quorum(5, 4, 3))
