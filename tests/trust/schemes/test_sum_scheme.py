"""Schemes are found by name, say what they hide, and files that name none mean masks."""

from __future__ import annotations

import dataclasses

import pytest

from discreet.core.errors import ParameterError
from discreet.trust.schemes.sum_scheme import Quorum, scheme_named, sum_schemes
from tests.trust.network.stage import federation


def test_every_scheme_says_what_it_hides_and_has_a_protocol_of_its_own() -> None:
    found = sum_schemes()
    assert "masks" in found
    assert len({one.protocol for one in found.values()}) == len(found)
    assert all(name == one.name and one.hides.endswith(".") for name, one in found.items())


def test_an_unknown_scheme_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(ParameterError, match="there is no scheme 'masked'.*masks"):
        dataclasses.replace(federation(), scheme="masked")


def test_a_federation_of_masks_has_the_digest_of_before_schemes_had_names() -> None:
    """It is written into files and ledgers."""
    agreed = dataclasses.replace(federation(), scheme="masks")
    assert agreed.digest == federation().digest
    assert agreed.terms("r1", 3, b"").digest == federation().terms("r1", 3, b"").digest


def test_masks_count_colluders_apart_from_those_who_leave() -> None:
    masks = scheme_named("masks")
    assert masks.honest(Quorum(5, 4, 2)) == 2
    masks.check(Quorum(5, 4, 2))
    with pytest.raises(ParameterError, match="At most 2 may"):
        masks.check(Quorum(5, 4, 3))
