from __future__ import annotations

import pytest

from discreet.accounting.terms import Term, branches, folded, terms
from discreet.core.errors import Unaccountable
from discreet.core.events import (
    ApproximateLoss,
    Composed,
    ConcentratedLoss,
    Event,
    GaussianLoss,
    LaplaceLoss,
    NoPromise,
    Parallel,
    PureLoss,
    Repeated,
    Sampled,
)


def test_equal_parts_are_counted_once_however_they_are_nested() -> None:
    event = Composed((PureLoss(0.5), Repeated(Composed((PureLoss(0.5), LaplaceLoss(2.0))), 3), Composed(())))
    assert terms(event) == (Term(PureLoss(0.5), 4), Term(LaplaceLoss(2.0), 3))


def test_gaussian_parts_become_one_by_the_sum_of_squares() -> None:
    (term,) = terms(Composed((Repeated(GaussianLoss(6.0), 4), GaussianLoss(4.0))))
    assert isinstance(term.event, GaussianLoss)
    assert term.event.multiplier == pytest.approx((4 / 36 + 1 / 16) ** -0.5, rel=1e-14)
    assert term.event.multiplier < (4 / 36 + 1 / 16) ** -0.5


def test_a_single_gaussian_keeps_its_multiplier_to_the_letter() -> None:
    assert terms(Repeated(GaussianLoss(1.1), 1)) == (Term(GaussianLoss(1.1), 1),)


def test_a_sample_of_everything_is_no_sample() -> None:
    assert terms(Sampled(Repeated(PureLoss(1.0), 2), 1.0)) == (Term(PureLoss(1.0), 2),)


def test_a_sample_of_a_sample_has_the_product_of_the_rates() -> None:
    (term,) = terms(Sampled(Sampled(LaplaceLoss(1.0), 0.1), 0.1))
    assert isinstance(term.event, Sampled)
    assert 0.01 <= term.event.rate < 0.01 * (1 + 1e-14)


def test_several_gaussians_asked_of_one_sample_are_one() -> None:
    (term,) = terms(Sampled(Repeated(GaussianLoss(2.0), 4), 0.1))
    assert isinstance(term.event, Sampled)
    assert isinstance(term.event.event, GaussianLoss)
    assert term.event.event.multiplier == pytest.approx(1.0, rel=1e-14)


@pytest.mark.parametrize(
    ("parts", "dearest"),
    [
        ((GaussianLoss(2.0), GaussianLoss(1.0)), GaussianLoss(1.0)),
        ((PureLoss(0.1), PureLoss(0.2), PureLoss(0.15)), PureLoss(0.2)),
        ((ConcentratedLoss(1.0), ConcentratedLoss(2.0)), ConcentratedLoss(2.0)),
        ((ApproximateLoss(1.0, 1e-6), ApproximateLoss(1.0, 1e-7)), ApproximateLoss(1.0, 1e-6)),
        ((Sampled(LaplaceLoss(1.0), 0.1), Sampled(LaplaceLoss(2.0), 0.1)), Sampled(LaplaceLoss(1.0), 0.1)),
        ((Repeated(PureLoss(0.1), 3), Repeated(PureLoss(0.1), 4)), Repeated(PureLoss(0.1), 4)),
    ],
)
def test_of_parallel_parts_the_dearest_counts(parts: tuple[Event, ...], dearest: Event) -> None:
    assert terms(Parallel(parts)) == terms(dearest)


def test_parallel_parts_of_which_none_covers_the_other_stay_and_branch() -> None:
    event = Parallel((ApproximateLoss(1.0, 1e-6), ApproximateLoss(2.0, 1e-7)))
    assert terms(event) == (Term(event, 1),)
    assert [terms(branch) for branch in branches(event)] == [terms(part) for part in event.events]
    assert len(branches(Repeated(event, 2))) == 1


def test_sampling_reaches_into_parallel_parts() -> None:
    event = Sampled(Parallel((LaplaceLoss(1.0), GaussianLoss(1.0))), 0.1)
    parts = Parallel((Sampled(LaplaceLoss(1.0), 0.1), Sampled(GaussianLoss(1.0), 0.1)))
    assert terms(event) == terms(parts)


def test_folding_gives_back_the_same_terms() -> None:
    found = terms(Composed((Repeated(PureLoss(0.1), 3), LaplaceLoss(1.0))))
    assert terms(folded(found)) == found


def test_a_release_without_a_promise_is_refused_by_name() -> None:
    event = Composed((PureLoss(1.0), NoPromise("k-anonymity")))
    with pytest.raises(Unaccountable, match="k-anonymity") as refusal:
        terms(event)
    assert refusal.value.values["whole"] == event
    assert refusal.value.values["part"] == NoPromise("k-anonymity")


@pytest.mark.parametrize(
    "other", [Sampled(GaussianLoss(1.0), 0.1, "poisson"), Parallel((PureLoss(1.0), PureLoss(2.0)))]
)
def test_parts_for_different_neighbors_are_refused(other: Event) -> None:
    with pytest.raises(Unaccountable, match="replace neighbors"):
        terms(Composed((Sampled(GaussianLoss(1.0), 0.1, "fixed_size"), other)))


def test_repetitions_of_repetitions_are_multiplied() -> None:
    """Also inside a list, and for noise of which only the squares add up."""
    assert terms(Repeated(Repeated(PureLoss(0.1), 3), 2)) == (Term(PureLoss(0.1), 6),)
    assert terms(Repeated(Composed((Repeated(LaplaceLoss(2.0), 3), LaplaceLoss(2.0))), 5)) == (
        Term(LaplaceLoss(2.0), 20),
    )
    (noise,) = terms(Repeated(Repeated(GaussianLoss(6.0), 3), 3))
    assert isinstance(noise.event, GaussianLoss)
    assert noise.event.multiplier == pytest.approx(2.0)
    assert noise.times == 1
