"""Records without a pattern, which a model can only learn by heart."""

from __future__ import annotations

import numpy as np

from discreet.attacks import MembershipData


def records(number: int, seed: int = 0, columns: int = 6) -> MembershipData:
    """As many members as others, drawn alike, with random labels."""
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(2 * number, columns)), rng.integers(0, 2, 2 * number)
    return MembershipData.of(X[:number], y[:number], X[number:], y[number:])
