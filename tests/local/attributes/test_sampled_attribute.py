"""One attribute of several: estimates of all of them, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.local.aggregator import Aggregator
from discreet.local.attributes.sampled_attribute import SampledAttribute
from discreet.noise.deterministic import DeterministicBits
from tests.local.trial import ReportTrial

DOMAINS = (("no", "yes"), 40, 5)
TRIAL = ReportTrial(
    [SampledAttribute(1.0, DOMAINS, ("grr", "pgr", "oue")), SampledAttribute(0.7, (3, 3), ("olh", "subset"))],
    fingerprints={"smp": "af531bf620d258c9"},
)


def people(n: int) -> list[tuple[str, int, int]]:
    return [("yes" if i % 4 else "no", i % 7, i % 2) for i in range(n)]


def test_all_attributes_are_estimated_within_their_errors() -> None:
    for randomizer in (SampledAttribute(2.0, DOMAINS), SampledAttribute(2.0, DOMAINS, ("olh", "cms", "subset"))):
        survey = Aggregator(randomizer, simulated=True)
        survey.add(randomizer.reports(people(30_000), DeterministicBits(1)))
        first, second, third = survey.estimate()
        assert first.n + second.n + third.n == 30_000
        assert abs(first.n - 10_000) < 5 * np.sqrt(30_000 / 4)
        assert (np.abs(first.shares - [0.25, 0.75]) < 4 * first.errors).all()
        assert (np.abs(second.shares - np.where(np.arange(40) < 7, 1 / 7, 0.0)) < 4.5 * second.errors).all()
        assert (np.abs(third.shares - [0.5, 0.5, 0, 0, 0]) < 4 * third.errors).all()


def test_a_value_that_is_not_in_its_domain_is_refused_whichever_attribute_is_drawn() -> None:
    randomizer = SampledAttribute(1.0, DOMAINS)
    for wrong in (("maybe", 1, 1), ("yes", 40, 1), ("yes", 1), ("yes", 1, 1, 1)):
        for seed in range(6):
            with pytest.raises(ParameterError):
                randomizer.reports([wrong], DeterministicBits(seed))


def test_reports_that_nobody_can_make_are_refused() -> None:
    randomizer = SampledAttribute(1.0, (2, 70_000), ("grr", "pgr"))
    right = randomizer.reports([(1, 1)] * 20, DeterministicBits(1))
    first = int(np.flatnonzero(right[:, 0] == 0)[0])
    for row, column, value in ((0, 0, 2), (first, 1, 2), (first, 2, 1)):
        wrong = right.copy()
        wrong[row, column] = value
        with pytest.raises(ParameterError, match="Nothing was counted"):
            randomizer.accepted(wrong)
    for parameters in (((3,),), ((3, 3), ("grr",)), ((3, 3), ("grr", "magic"))):
        with pytest.raises(ParameterError):
            SampledAttribute(1.0, *parameters)
