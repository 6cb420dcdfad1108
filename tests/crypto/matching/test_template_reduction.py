"""Fewer numbers: what is learned, on what, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.errors import Malformed
from discreet.crypto.matching.template_reduction import TemplateReduction
from tests.crypto.matching.made_galleries import made_templates

OTHERS = made_templates(300, 12) * np.arange(12, 0, -1)


def test_axes_are_the_principal_ones() -> None:
    found = TemplateReduction.learned(OTHERS, 5, "made-up vectors")
    rows = OTHERS / np.linalg.norm(OTHERS, axis=1, keepdims=True)
    centred = rows - rows.mean(axis=0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    assert np.allclose(np.abs(found.axes @ axes[:5].T), np.eye(5), atol=1e-8)
    assert np.allclose(found.reduced(OTHERS * 1e6), centred @ found.axes.T)
    again = TemplateReduction.from_bytes(found.to_bytes())
    assert again.digest == found.digest
    assert (again.reduced(OTHERS) == found.reduced(OTHERS)).all()
    assert again.learned_on == "made-up vectors"


def test_it_says_what_it_was_learned_on_and_takes_vectors_alone() -> None:
    with pytest.raises(ParameterError, match="Never learn on a gallery"):
        TemplateReduction.learned(OTHERS, 5, " ")
    for vectors, dimensions in ((OTHERS, 1), (OTHERS, 13), (OTHERS[:4], 5), (OTHERS * np.nan, 5), (OTHERS * 0, 5)):
        with pytest.raises(ParameterError):
            TemplateReduction.learned(vectors, dimensions, "made-up vectors")
    with pytest.raises(ParameterError, match="Give 12"):
        TemplateReduction.learned(OTHERS, 5, "made-up vectors").reduced(OTHERS[:, :11])


def test_ten_thousand_fuzzed_reductions_are_malformed_or_read() -> None:
    good, rng = TemplateReduction.learned(OTHERS, 3, "made-up vectors").to_bytes(), np.random.default_rng(1)
    for _ in range(10_000):
        data = bytearray(good)
        data[int(rng.integers(0, 120))] = int(rng.integers(0, 256))
        try:
            found = TemplateReduction.from_bytes(bytes(data[: int(rng.integers(100, len(data) + 200))]))
            assert np.isfinite(found.axes).all()
        except Malformed:
            pass
