"""What templates may be, and what is compared."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching.match_parameters import PRIMES, MatchParameters
from tests.crypto.matching.made_galleries import made_templates


def test_templates_are_compared_as_directions_of_any_length() -> None:
    rows, sizes = made_templates(5, 6), np.array([[1e-300], [1.0], [1e300], [3.0], [1e-5]])
    found = MatchParameters(6).directions(rows * sizes)
    assert found.shape == (5, 8)
    assert np.allclose(found[:, :6], rows, atol=1e-12)
    assert not found[:, 6:].any()


@pytest.mark.parametrize(
    "wrong",
    [
        [1.0, np.nan, 0.0],
        [1.0, np.inf, 0.0],
        [0.0, 0.0, 0.0],
        [1.0, 2.0],
        [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]],
        ["a", "b", "c"],
        [1j, 0, 0],
        [True, False, True],
        np.zeros((0, 3)),
        np.zeros((2, 2, 3)),
        None,
    ],
)
@pytest.mark.parametrize("scheme", ["ckks", "bfv"])
def test_what_is_no_template_is_refused_before_anything_is_encrypted(wrong: Any, scheme: Any) -> None:
    with pytest.raises(ParameterError, match="Nothing was encrypted"):
        MatchParameters(3, scheme).comparable(wrong)


@pytest.mark.parametrize("dimensions", [2, 3, 8, 64, 100, 512, 1024])
def test_rounded_templates_never_wrap_round_and_their_scores_are_near(dimensions: int) -> None:
    parameters = MatchParameters(dimensions, "bfv")
    rows = np.concatenate([made_templates(200, dimensions), np.eye(dimensions)[:2], np.ones((1, dimensions))])
    whole = parameters.comparable(rows)
    assert (whole == np.rint(whole)).all()
    assert np.abs(whole).max() <= 127
    plain = parameters.engine.context.first_context_data()
    assert plain is not None
    assert 4 * (whole**2).sum(axis=1).max() < 1032193 == _plain_modulus(parameters)
    assert parameters.score((whole**2).sum(axis=1)).max() <= parameters.longest
    exact = MatchParameters(dimensions).comparable(rows[:200])
    spread = np.abs(parameters.score(whole[:200] @ whole[:200].T) - exact @ exact.T)
    assert spread.max() < (0.05 if dimensions >= 64 else 0.6)  # few coordinates are clipped


def _plain_modulus(parameters: MatchParameters) -> int:
    return int(parameters.engine.context.first_context_data().parms().plain_modulus().value())


def test_moduli_are_those_of_128_bits_of_security() -> None:
    assert sum(PRIMES) == 109  # the most for degree 4096 and ternary secrets, of the standard's table
    for scheme in ("ckks", "bfv"):
        assert [prime.bit_length() for prime in MatchParameters(8, scheme).engine.primes] == list(PRIMES)


def test_parameters_travel_and_others_are_refused() -> None:
    for parameters in (MatchParameters(100), MatchParameters(2, "bfv")):
        assert MatchParameters.from_bytes(parameters.to_bytes()) == parameters
    for wrong in (b"", b"ckks", b"ckks 1", b"ckks 1025", b"bgv 8", b"ckks 8.0", b"ckks " + b"9" * 50, b"\xff\xff 8"):
        with pytest.raises(Malformed):
            MatchParameters.from_bytes(wrong)
    for dimensions in (1, 1025, 2.5, "8", None, True, np.nan):
        with pytest.raises(ParameterError, match="dimensions"):
            MatchParameters(dimensions)  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="scheme"):
        MatchParameters(8, "bgv")  # type: ignore[arg-type]
