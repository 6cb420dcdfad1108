"""The choice: randomised response for small domains, projective geometry for others, and the reasons."""

from __future__ import annotations

import pytest

from discreet.core.errors import ParameterError
from discreet.local.frequency_oracle import KINDS, frequency_oracle
from discreet.local.oracle import Oracle
from tests.conformance.walk import randomizers


def test_the_variance_is_nearly_the_least_and_reports_are_short() -> None:
    for epsilon in (0.5, 1.0, 2.0, 4.0):
        for size in (2, 3, 10, 50, 100, 1000, 10_000):
            choice = frequency_oracle(size, epsilon)
            assert choice.oracle.form.itemsize <= 8
            assert choice.oracle.noise < 1.1 * min(one.noise for one in choice.others)
        assert [frequency_oracle(size, epsilon).oracle.kind for size in (2, 10_000)] == ["grr", "pgr"]


def test_the_table_has_oracles_and_the_reason_says_why() -> None:
    choice = frequency_oracle([str(i) for i in range(100)], 1.0)
    assert set(KINDS) <= {kind for kind in randomizers() if issubclass(kind, Oracle)}
    assert len(KINDS) == len(choice.others) == 9
    text = str(choice)
    assert "ProjectiveGeometry for 100 values at epsilon 1" in text
    assert "OptimizedUnary" in text
    assert text.count("(chosen)") == 1
    assert "<table" in choice._repr_html_()
    with pytest.raises(ParameterError):
        frequency_oracle(100, -1.0)


def test_one_text_is_not_taken_for_its_letters() -> None:
    with pytest.raises(ParameterError, match="letter by letter"):
        frequency_oracle("Rome", 1.0)
