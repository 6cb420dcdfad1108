"""Cards are made of what was released; `test_privacy_card.py` holds what they say."""

from __future__ import annotations

import pytest

import discreet
from discreet.core.errors import DiscreetError
from discreet.releases.card_of import privacy_card

READ_ELSEWHERE = {"privacy_card": "it is told of a release, a ledger or a model, and reads no records"}
"""Why no odd values are handed over to it: see `tests/conformance/test_odd_values.py`."""


def test_a_card_states_the_price_of_the_release_that_it_is_of() -> None:
    found = discreet.count(discreet.sample("patients"), epsilon=0.25)
    card = privacy_card(found)
    assert card.epsilon == pytest.approx(0.25, rel=1e-6)
    assert card.epsilon >= found.receipt.epsilon


def test_what_is_no_release_has_no_card() -> None:
    for other in (None, 3.0, [1.0, 2.0]):
        with pytest.raises(DiscreetError):
            privacy_card(other)
