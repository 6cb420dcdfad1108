"""What is said beforehand is what is needed."""

from __future__ import annotations

from pathlib import Path

import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.matching.match_parameters import MatchParameters, MatchScheme
from discreet.crypto.matching.match_plan import MESSAGE, plan_match
from discreet.crypto.matching.sealed_query import SealedQuery
from tests.crypto.matching.made_galleries import key_of, made_templates, matcher_of


@pytest.mark.parametrize(("dimensions", "scheme", "templates"), [(5, "ckks", 2050), (4, "bfv", 7)])
def test_bytes_and_ciphertexts_are_right(dimensions: int, scheme: MatchScheme, templates: int, tmp_path: Path) -> None:
    key = key_of(dimensions, scheme)
    plan = plan_match(key.parameters, templates)
    matcher = matcher_of(tmp_path / "faces", made_templates(templates, dimensions), key)
    assert plan.enrolment.bytes == matcher.gallery.size == (tmp_path / "faces").stat().st_size
    assert plan.enrolment.ciphertexts == sum(len(matcher.gallery.block(b)) for b in range(len(matcher.gallery.blocks)))
    query = SealedQuery.by_owner([1.0] * dimensions, key)
    answer = matcher.answer(query)
    assert plan.answer.ciphertexts == len(answer.bodies)
    assert 0 <= plan.answer.bytes - len(answer.to_bytes()) + 4 * len(answer.bodies) <= MESSAGE + 16
    assert 0 <= plan.query.bytes - len(query.to_bytes()) <= MESSAGE
    assert plan.memory == plan.enrolment.ciphertexts * 2 * 2 * 4096 * 8
    assert min(plan.enrolment.seconds, plan.query.seconds, plan.answer.seconds, plan.loading) > 0
    assert str(plan).count("ciphertexts") == 3


def test_a_million_templates_are_planned_without_work() -> None:
    plan = plan_match(MatchParameters(64), 10**6)
    assert plan.enrolment.bytes / 10**6 < 2000
    assert plan.answer.seconds == pytest.approx(plan_match(MatchParameters(64), 10**5).answer.seconds * 10, rel=0.1)
    for wrong in (0, -1, 2.5, None):
        with pytest.raises(ParameterError, match="templates"):
            plan_match(MatchParameters(64), wrong)  # type: ignore[arg-type]
