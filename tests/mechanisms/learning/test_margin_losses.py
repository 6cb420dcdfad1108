"""Losses of margins: slopes between -1 and 0, and as accurate as the certificate says."""

from __future__ import annotations

from decimal import Context, Decimal, localcontext

import numpy as np
import pytest

from discreet.mechanisms.learning.margin_losses import LOSSES, LossName


@pytest.mark.parametrize("name", list(LOSSES))
def test_pulls_are_accurate_and_bend_no_more_than_they_say(name: LossName) -> None:
    loss = LOSSES[name]
    margins = np.concatenate([np.linspace(-60, 60, 4801), [-1e300, 1e300, 0.0, 2.0]])
    pulls = loss.pull(margins)
    with localcontext(Context(prec=40)):
        exact = [loss.exact_pull(Decimal(margin)) for margin in margins.tolist()]
        worst = max(abs(Decimal(p) - q) for p, q in zip(pulls.tolist(), exact, strict=True))
    assert worst <= 16 * 2.0**-53
    assert ((pulls >= 0) & (pulls <= 1)).all()
    slopes = -np.diff(pulls[:4801]) / np.diff(margins[:4801])
    assert (slopes >= 0).all()
    assert slopes.max() <= loss.bend * (1 + 1e-9)
    np.testing.assert_allclose(slopes, loss.curvature((margins[:4800] + margins[1:4801]) / 2), atol=0.01)
    assert loss.curvature(margins).max() <= loss.bend
