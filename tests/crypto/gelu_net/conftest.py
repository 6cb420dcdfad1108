from __future__ import annotations

from collections.abc import Iterator

import pytest

from discreet.crypto.paillier import public_key


@pytest.fixture(autouse=True, scope="module")
def short_keys() -> Iterator[None]:
    """Keys that anybody can break, so that tests are fast; no parameter of the library allows them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(public_key, "LEAST", 256)
        yield
