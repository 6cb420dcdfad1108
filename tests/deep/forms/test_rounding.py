"""What rounding may do to clipped sums: hostile samples for every form of gradients, found by walking the folder."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from discreet.core.errors import ParameterError
from discreet.deep import forms
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.forms.blocks import added_up, outer_sum, weighted_sum
from discreet.deep.forms.chosen_rows import ChosenRows, TiedRows
from discreet.deep.forms.explicit import Explicit
from discreet.deep.forms.form import Form
from discreet.deep.forms.outer_products import OuterProducts
from discreet.deep.forms.patches import Kernel, Patches
from discreet.deep.forms.precision import unit
from discreet.deep.forms.rounding import (
    BETWEEN,
    CANCELLING,
    MARGIN,
    MOST,
    OWN,
    ROWS,
    SLACK,
    TERM,
    WITHIN,
    KernelBlocks,
    kernel_blocks,
    lengthened,
    rounding_of,
)

SAMPLES = 40
KERNEL = Kernel((3, 2, 2, 2), (1, 1), (1, 1), (1, 1), 1)
SMALL = Kernel((40, 30, 2, 2), (1, 1), (0, 0), (1, 1), 1)


def cancelling(inputs: Tensor, slopes: Tensor, by: float) -> tuple[Tensor, Tensor]:
    """The second half of the places takes nearly all of the first back."""
    half = inputs.shape[1] // 2
    inputs[:, half : 2 * half] = inputs[:, :half] * (1 + by * torch.randn_like(inputs[:, :half]))
    slopes[:, half : 2 * half] = -slopes[:, :half]
    return inputs, slopes


def products(places: int, d: int, p: int, by: float = 1e-4, scale: float = 1e3) -> OuterProducts:
    inputs, slopes = torch.randn(SAMPLES, places, d), scale * torch.randn(SAMPLES, places, p)
    return OuterProducts(*(cancelling(inputs, slopes, by) if places > 1 else (inputs, slopes)))


def rows(places: int, scale: float = 1e3) -> ChosenRows:
    slopes = scale * torch.randn(SAMPLES, places, 3)
    slopes[:, places // 2 :] = -slopes[:, : places // 2] * (1 + 1e-4)
    return ChosenRows(torch.randint(0, 2, (SAMPLES, places // 2)).repeat(1, 2), slopes, 4)


def patches(kernel: Kernel, size: int, scale: float = 1e3) -> Patches:
    inputs = torch.ones(SAMPLES, kernel.shape[1], size, size) * (1 + 1e-4 * torch.randn(SAMPLES, 1, size, size))
    shape = [size + 2 * side - taps + 1 for side, taps in zip(kernel.padding, kernel.shape[2:], strict=True)]
    slopes = scale * torch.randn(SAMPLES, kernel.shape[0], *shape)
    slopes[..., 0] = -slopes[..., 1:].sum(dim=-1)  # equal pixels cancel
    return Patches(inputs, slopes, kernel)


TRIALS: dict[type[object], list[Callable[[], Form]]] = {
    OuterProducts: [
        lambda: products(1, 5, 4),
        lambda: products(2, 16, 900),
        lambda: products(40, 9, 8),
        lambda: products(6, 40, 50),
        lambda: products(8, 40, 48),
        lambda: products(136, 280, 288),
        lambda: products(600, 6, 3),
        lambda: products(64, 16, 24),
        lambda: products(200, 24, 16),
        lambda: OuterProducts(torch.full((SAMPLES, 1, 4), 1e-23), torch.full((SAMPLES, 1, 4), 1e18)),
        lambda: OuterProducts(torch.full((SAMPLES, 2, 8), 1e-23), torch.full((SAMPLES, 2, 8), 1e18)),
        lambda: OuterProducts(torch.full((SAMPLES, 9, 2), 1e-23), torch.full((SAMPLES, 9, 2), 1e18)),
    ],
    Explicit: [
        lambda: Explicit(1e3 * torch.randn(SAMPLES, 7, 3)),
        lambda: Explicit(torch.full((SAMPLES, 4), 1e-22)),
    ],
    ChosenRows: [lambda: rows(6), lambda: rows(200)],
    TiedRows: [lambda: TiedRows(rows(6), products(6, 3, 4)), lambda: TiedRows(rows(6, 1.0), products(2, 3, 4, 1e-2))],
    Patches: [lambda: patches(KERNEL, 5), lambda: patches(SMALL, 2), lambda: patches(SMALL, 3)],
}


def written(form: Form) -> Tensor:
    """The gradients of held numbers, in float64."""
    match form:
        case OuterProducts():
            return form.slopes.double().mT @ form.inputs.double()
        case ChosenRows():
            return ChosenRows(form.chosen, form.slopes.double(), form.rows).explicit()
        case TiedRows():
            return written(form.rows) + written(form.products)
        case Patches() if form.cost.way != "written out once":
            return Patches(form.inputs.double(), form.slopes.double(), form.kernel, form.images).explicit()
    return form.explicit().double()


def test_every_form_has_a_trial() -> None:
    for found in pkgutil.iter_modules(forms.__path__):
        if found.name in ("gpu_norms", "gpu_sums"):  # need a GPU
            continue
        for kind in vars(importlib.import_module(f"{forms.__name__}.{found.name}")).values():
            if isinstance(kind, type) and hasattr(kind, "squared_norms") and kind is not Form:
                assert TRIALS[kind], kind


@pytest.mark.parametrize("kind", TRIALS)
def test_no_hostile_sample_moves_a_sum_by_more_than_the_clip(kind: type[object]) -> None:
    for trial, make in enumerate(TRIALS[kind]):
        torch.manual_seed(trial)
        form = make()
        found, exact = form.squared_norms().double(), written(form).flatten(1)
        assert (found >= exact.square().sum(dim=1)).all(), trial
        for clip in (1e-6, 1.0, 1e3):
            own = clip * (1 - MARGIN - SLACK)
            weights = (own / found.sqrt().clamp(min=own)).float()
            for few in (slice(1), slice(None)):
                part = _of(form, few)
                wanted = (weights[few].double() @ exact[few]).view(form.explicit().shape[1:])
                error = float((part.weighted(weights[few], own).double() - wanted).norm())
                assert error <= MARGIN / 4 * own + SLACK * own, (trial, clip, error / own)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")
@pytest.mark.parametrize("precision", ["float32", "TF32", "bfloat16"])
@pytest.mark.parametrize("kind", TRIALS)
def test_no_hostile_sample_moves_a_sum_by_more_than_the_clip_on_a_gpu(kind: type[object], precision: str) -> None:
    """The sum with a sample and without it: lengths are of the numbers that kernels add up, whatever these are."""
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "TF32"
    torch.backends.cudnn.deterministic = True
    for trial, make in enumerate(TRIALS[kind]):
        torch.manual_seed(trial)
        form = _on_gpu(make(), torch.bfloat16 if precision == "bfloat16" else torch.float32)
        for clip in (1e-6, 1.0, 1e3):
            own = clip * (1 - form.rounding - SLACK)
            weights = own / form.squared_norms().sqrt().clamp(min=own)
            whole = form.weighted(weights, own).double()
            for one in range(0, SAMPLES, 7):
                without = weights.clone()
                without[one] = 0
                moved = float((whole - form.weighted(without, own).double()).norm())
                assert moved <= clip, (trial, clip, moved / clip)


def _on_gpu(form: Form, kind: torch.dtype) -> Form:
    match form:
        case OuterProducts():
            return OuterProducts(form.inputs.to("cuda", kind), form.slopes.to("cuda", kind))
        case ChosenRows():
            return ChosenRows(form.chosen.cuda(), form.slopes.to("cuda", kind), form.rows)
        case TiedRows():
            rows, products = _on_gpu(form.rows, kind), _on_gpu(form.products, kind)
            assert isinstance(rows, ChosenRows)
            assert isinstance(products, OuterProducts)
            return TiedRows(rows, products)
        case Patches():
            return Patches(form.inputs.to("cuda", kind), form.slopes.to("cuda", kind), form.kernel, form.images)
    return Explicit(form.explicit().to("cuda", kind))


def test_blocks_of_kernels_are_as_long_as_the_margin_allows() -> None:
    for places in (*range(1, 40), 64, 128, 197, 208, 500, 512, 577, 960, 961, 1500, 70_001):
        blocks = kernel_blocks(places)
        assert not blocks.whole
        assert blocks.long % ROWS == 0
        assert 4 * TERM * blocks.long * _met(blocks) <= blocks.within * (1 + 1e-12) <= WITHIN
        longer = KernelBlocks(places, blocks.long + ROWS)
        assert blocks.long == MOST or longer.within > WITHIN
    assert all((k + 2) * 2.0**-23 <= k * TERM for k in (4, 8, 16))  # addends and the result, each cut off once


def _met(blocks: KernelBlocks) -> float:
    """How much is added up, in clips, in all blocks with places of one sample, wherever that begins."""
    places, long, most, found = blocks.places, blocks.long, blocks.cancelling, 0.0
    for begin in {start * places % long for start in range(long)}:
        total = 0.0
        for first in range(0, begin + places, long):  # blocks with some of its places
            others = [at for at in range(begin % places - places, first + long, places) if at != begin]
            inside = [min(at + places, first + long) - max(at, first) for at in others]
            total += sum(1.0 if share == places else most for share in inside if share > 0)
        found = max(found, total + most)  # the products of its own places, in whichever block, are no more together
    return found


def test_blocks_that_are_samples_are_off_by_what_their_own_products_come_to() -> None:
    for places in (64, 128, 192, 512, 1024, 3392):
        blocks = kernel_blocks(places, weighted=True)
        assert blocks.whole
        assert blocks.long == places
        assert CANCELLING <= blocks.cancelling <= 4 * CANCELLING
        assert places * TERM * blocks.cancelling <= blocks.within * (1 + 1e-12) <= WITHIN
        assert blocks.cancelling == CANCELLING or blocks.within <= OWN * (1 + 1e-12)
    assert not kernel_blocks(196, weighted=True).whole
    assert not kernel_blocks(4096, weighted=True).whole  # the margin is too small for a chain of so many


def test_no_more_blocks_are_added_in_float32_than_the_margin_allows() -> None:
    """Each addition is off by a unit of the sum so far: whole samples, and of one some places; four times in all."""
    for places, weighted in ((1, False), (3, False), (128, False), (128, True), (196, False), (1500, False)):
        blocks = kernel_blocks(places, weighted)
        part = 0.0 if blocks.long % places == 0 else blocks.cancelling
        for count, holds in ((blocks.most, True), (blocks.most + 2, False)):
            off = 4 * 2.0**-24 * count * (count * blocks.long / places + part)
            assert (off <= BETWEEN) == holds


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_what_a_kernel_is_given_is_as_far_from_what_is_held_as_lengths_allow_for(
    kind: torch.dtype, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.manual_seed(0)
    shapes = ((1, 30, 20), (5, 8, 24), (5, 24, 8), (64, 16, 8))
    forms = [OuterProducts(*(3 * torch.randn(20, t, n).to(kind) for n in (d, p))) for t, d, p in shapes]
    assert all(len(form._found) for form in forms)  # lengths, as a processor finds them
    monkeypatch.setattr("discreet.deep.forms.outer_products.has_kernels", lambda values: True)
    for form, (places, *_) in zip(forms, shapes, strict=True):
        own = 0.5
        weights = own * torch.rand(20) / written(form).flatten(1).norm(dim=1).float()
        weights[0] = 0.0
        inputs, slopes, scale = form._scaled(weights, own)
        whole = kind == torch.bfloat16 and places == 64
        found = (slopes.double().mT @ inputs.double()) * scale * (weights.view(-1, 1, 1) if whole else 1)
        exact = weights.double().view(-1, 1, 1) * written(form)
        bulk = weights * form.inputs.double().flatten(1).norm(dim=1) * form.slopes.double().flatten(1).norm(dim=1)
        assert ((found - exact).flatten(1).norm(dim=1) <= form.stored * bulk + 1e-6 * own).all()
        assert form.stored == 0 if whole else form.stored >= (2.0**-8 if kind == torch.bfloat16 else 2.0**-11)
        lengths = exact.div(weights.view(-1, 1, 1)).flatten(1).norm(dim=1) + form.stored * bulk / weights
        assert (form.squared_norms()[1:].sqrt() >= lengths[1:] * (1 - 1e-6)).all()


def test_lengths_of_cut_factors_are_those_of_what_is_added_up_at_least() -> None:
    torch.manual_seed(0)
    inputs, slopes = torch.randn(50, 30, 6).double(), torch.randn(50, 30, 4).double()
    slopes[:, 15:] = -slopes[:, :15] * (1 + 1e-3)
    bulk = inputs.flatten(1).norm(dim=1) * slopes.flatten(1).norm(dim=1)
    exact = (slopes.mT @ inputs).flatten(1).norm(dim=1)
    cut = [one * (1 - 2.0**-10 * torch.rand_like(one)) for one in (inputs, slopes)]
    found = (cut[1].mT @ cut[0]).flatten(1).norm(dim=1).square()
    assert (lengthened(found, bulk.square(), 0.0, 2.0**-9).sqrt() >= exact).all()
    torch.testing.assert_close(
        lengthened(found, bulk.square(), 2.0**-20, 2.0**-9).sqrt(),
        (found + 2.0**-20 * bulk.square()).sqrt() + 2.0**-9 * bulk,
        rtol=1e-6,
        atol=0,
    )


def _of(form: Form, few: slice) -> Form:
    match form:
        case OuterProducts():
            return OuterProducts(form.inputs[few], form.slopes[few])
        case ChosenRows():
            return ChosenRows(form.chosen[few], form.slopes[few], form.rows)
        case TiedRows():
            rows, products = _of(form.rows, few), _of(form.products, few)
            assert isinstance(rows, ChosenRows)
            assert isinstance(products, OuterProducts)
            return TiedRows(rows, products)
        case Patches():
            return Patches(form.inputs[few], form.slopes[few], form.kernel, form.images)
    return Explicit(form.explicit()[few])


def test_blocks_add_up_to_the_sum_and_are_as_large_as_the_margin_allows() -> None:
    for places in (1, 2, 3, 5, 16, 40, 100, 256, 257, 1000):
        rounding = rounding_of(torch.zeros(1), places)
        terms = rounding.samples * rounding.places
        assert 4 * unit(torch.zeros(1)) * terms * rounding.samples * rounding.cancelling <= MARGIN * (1 + 1e-12)
        assert rounding.cancelling >= (1 if places == 1 else 64)
        for samples in (1, 3, 300):
            slopes, inputs = (torch.randint(1, 60, (samples, places, wide)) for wide in (4, 5))
            exact = slopes.flatten(0, 1).double().T @ inputs.flatten(0, 1).double()
            assert torch.equal(outer_sum(slopes.float(), inputs.float()).double(), exact)
    assert float(added_up(torch.tensor([2.0**24, 1.0, 1.0]).view(3, 1))) == 2**24 + 2
    values, weights = torch.randint(-200, 200, (700, 3)), torch.randint(0, 200, (700,))
    assert torch.equal(weighted_sum(weights.float(), values.float()), weights.double() @ values.double())


def test_sums_of_blocks_in_float32_are_off_by_half_of_the_slack_at_most() -> None:
    for places in (1, 2, 16, 128, 256, 257, 1000):
        rounding = rounding_of(torch.zeros(1), places)
        part = rounding.cancelling if places > rounding.places else 0.0
        for count, holds in ((rounding.blocks, True), (rounding.blocks + 1, False)):
            off = 4 * 2.0**-24 * count * (count * rounding.samples + part)
            assert (off <= SLACK / 2) == holds


def test_guards_grow_with_the_number_of_terms() -> None:
    """By what any order of additions in float32 may lose, and by what places that cancel may come to."""
    for places, d, p in ((2, 16, 50257), (300, 7, 5)):
        form = OuterProducts(torch.randn(2, places, d), torch.randn(2, places, p))
        terms = d + p + 2 * places if form.cost.way == "pairs of places" else 2 * places
        guard = terms * 2.0**-24 + rounding_of(form.slopes, places).cancelling ** -2
        assert form.guard >= guard
        bulk = form.inputs.double().flatten(1).norm(dim=1) * form.slopes.double().flatten(1).norm(dim=1)
        assert (form.squared_norms() >= guard * bulk.square() * (1 - 1e-6)).all()
    assert OuterProducts(torch.ones(2, 1, 3), torch.ones(2, 1, 3)).guard == 0


def test_samples_that_all_round_one_way_stay_within_the_margin() -> None:
    """One direction, and last digits that every addition in float32 loses: 71 clips at 2^20 records before."""
    count = 2**16
    values = torch.full((count, 1), 1 - 2.0**-6 - 2.0**-9 - 2.0**-24)
    for found in (weighted_sum(torch.ones(count), values), outer_sum(values[:, None], torch.ones(count, 1, 1)).view(1)):
        exact = float(values.double().sum())
        assert abs(float(found) - exact) <= count / 256 * MARGIN / 4


@pytest.mark.parametrize("kind", [torch.bfloat16, torch.float16])
def test_less_precise_products_are_added_up_in_float32(kind: torch.dtype) -> None:
    model, x = nn.Linear(3, 2), torch.rand(3000, 3) + 0.5
    with torch.autocast("cpu", dtype=kind):
        found = clipped_sum(model, lambda out, wanted: out[:, 0] * wanted, x, torch.ones(3000), clip=1e6)
    assert all(one.dtype != kind for one in found.gradients.values())
    torch.testing.assert_close(found.gradients["bias"].double(), torch.tensor([3000.0, 0.0]).double())
    torch.testing.assert_close(found.gradients["weight"][0].double(), x.to(kind).double().sum(dim=0), rtol=1e-6, atol=0)


def test_two_places_that_cancel_over_many_outputs_count_as_long_as_they_may_be() -> None:
    torch.manual_seed(0)
    inputs, slopes = torch.randn(3, 1, 16).repeat(1, 2, 1), 1e3 * torch.rand(3, 1, 50257).repeat(1, 2, 1)
    inputs[:, 1] += 2e-7 * torch.randn(3, 16)
    slopes[:, 1] *= -1
    found = clipped_sum(nn.Linear(16, 50257, bias=False), lambda out, w: (out * w).sum(dim=(1, 2)), inputs, slopes)
    exact = (slopes.double().mT @ inputs.double()).flatten(1).norm(dim=1)
    assert (found.norms >= exact).all()
    assert found.gradients["weight"].norm() <= 3


def test_parameters_and_products_of_few_digits_are_refused() -> None:
    for kind in (torch.bfloat16, torch.float16):
        with pytest.raises(ParameterError, match="Keep parameters in float32"):
            clipped_sum(nn.Linear(2, 1, dtype=kind), lambda a, b: a[:, 0], torch.ones(3, 2, dtype=kind), torch.ones(3))
    torch.set_float32_matmul_precision("medium")
    try:
        with pytest.raises(ParameterError, match="highest"):
            clipped_sum(nn.Linear(2, 1), lambda a, b: a[:, 0], torch.ones(3, 2), torch.ones(3))
    finally:
        torch.set_float32_matmul_precision("highest")


def test_gradients_too_large_to_keep_are_written_out_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.manual_seed(0)
    kept, weights = patches(KERNEL, 5), torch.rand(SAMPLES)
    lengths, total = kept.squared_norms(), kept.weighted(weights, 1.0)
    monkeypatch.setattr("discreet.deep.forms.cost.AT_HAND", 1)
    monkeypatch.setattr("discreet.deep.forms.patches.AT_HAND", 7 * KERNEL.size)
    again = Patches(kept.inputs, kept.slopes, KERNEL)
    assert again.cost.way == "written out"
    torch.testing.assert_close(again.squared_norms(), lengths)
    torch.testing.assert_close(again.weighted(weights, 1.0).float(), total.float(), rtol=1e-5, atol=1e-2)
