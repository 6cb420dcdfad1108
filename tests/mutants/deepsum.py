"""Mistakes in the sums of training: deals, blocks, guards, grids."""

from __future__ import annotations

from tests.mutants.mutant import of

ROUNDING = "deep/forms/test_rounding.py"
CHUNKS = "deep/clipping/test_chunks.py"

MUTANTS = [
    *of(
        "deep/noise/exact_sum",
        ('Bound("l2", radius), neighbors, slack)', 'Bound("l2", radius), neighbors)'),
        tests=CHUNKS,
    ),
    *of("deep/noise/noise_stream", ("OF_CHUNKS + math.sqrt(bands.count)", "OF_CHUNKS"), tests=CHUNKS),
    *of(
        "deep/noise/fine_grid",
        ("OF_CHUNKS = 2.0", "OF_CHUNKS = 1.0"),
        (".round().nan_to_num(0.0, 0.0, 0.0)", ".nan_to_num(0.0, 0.0, 0.0)"),
        (".nan_to_num(0.0, 0.0, 0.0)", ""),
        tests=CHUNKS,
    ),
    *of(
        "deep/clipping/chunks",
        ("permutation(bits, n) if full else np.arange(n)", "np.arange(n)"),
        ("n // size if n > least * size else 0", "n // size"),
        ("min(len(rest), 1), size)[0]", "1, size)[0]"),
        tests=CHUNKS,
    ),
    *of(
        "deep/questions/tensors_view",
        ("dealt_to_chunks(self.bits, len(drawn), least, size)", "np.arange(least * size).reshape(least, size)"),
        ("torch.from_numpy(dealt < len(drawn))", "torch.from_numpy(dealt <= len(drawn))"),
        tests=f"{CHUNKS} deep/training/test_trainer.py",
    ),
    *of(
        "deep/questions/sampled_gradient",
        ("{name: on_grid(one, reach) for name, one in own}", "{name: one for name, one in own}"),
        ("self._plan.reach(self.clip), OF_CHUNKS)", "self._plan.reach(self.clip), 0.0)"),
        tests=CHUNKS,
    ),
    *of("deep/training/processes", ("whole = sums.double()", "whole = sums.bfloat16()")),
    *of(
        "deep/clipping/clipped_sum",
        ("torch.autocast(lost.device.type, enabled=False)", "torch.no_grad()"),
        ("torch.finfo(one.dtype).bits < 32", "False"),
        ('torch.get_float32_matmul_precision() != "highest"', "False"),
        ("SLACK + max((form.rounding for form in forms.values()), default=0.0)", "0.0"),
        tests=f"{ROUNDING} {CHUNKS} deep/clipping/test_clipped_sum.py",
    ),
    *of(
        "deep/forms/outer_products",
        ("2 * terms * unit(self.slopes) + self._rounding.cancelling**-2", "2.0**-22"),
        ("places + ((d + p) / 2 if self.cost.way is Way.PAIRS else 0) + 8", "0 * d * p"),
        ("return FLOOR * self.inputs[0].numel(), FLOOR * self.slopes[0].numel()", "return 0.0, 0.0"),
        ("self.guard, self.cut + self.stored)", "self.guard, self.cut)"),
        ("return BFLOAT * (1 + 2.0**-8)", "return HALF"),
        ("torch.where(by > 0, wide(factor) * by, 0)", "wide(factor)"),
        ("isinstance(blocks, Rounding) or blocks.whole", "True"),
        tests=ROUNDING,
    ),
    *of("deep/forms/explicit", ("+ count * FLOOR", "+ 0 * count"), tests=ROUNDING),
    *of(
        "deep/forms/chosen_rows",
        ("+ FEW**-2", "- (2 * places + d + 8) * unit(self.slopes)"),
        ("times(self.slopes, weights).double()", "times(self.slopes, weights).bfloat16()"),
        tests=ROUNDING,
    ),
    *of(
        "deep/forms/patches",
        ("self._by_pairs(), self.guard, 2", "self._by_pairs(), 0.0, 2"),
        tests=ROUNDING,
    ),
    *of(
        "deep/forms/rounding",
        ("SAMPLES, TERMS = 256, 256", "SAMPLES, TERMS = 65536, 256"),
        ("MARGIN / (4 * unit(values) * samples * at * samples)", "MARGIN / (unit(values) * samples * at)"),
        ("TERM = 1.5 * 2.0**-23", "TERM = 2.0**-24"),
        ("4 * self.long * TERM * (count", "self.long * TERM * (count"),
        ("2 * count + 3 * self.cancelling", "count + self.cancelling"),
        ("each * share * 2.0**24", "each * share * 2.0**30"),
        ("cancelling if places > at else 0.0, SLACK / 2", "0.0, SLACK / 2"),
        ("fits if blocks.within <= WITHIN", "fits if blocks.long <= MOST"),
        ("OWN / (self.long * TERM)", "2.0**30"),
        ("return self.long * TERM * self.cancelling", "return self.long * TERM"),
        ("(squares.sqrt() + cut * bulk.sqrt()).square()", "(squares + cut * bulk)"),
        tests=ROUNDING,
    ),
    *of(
        "deep/forms/blocks",
        ("sum(others, first.double())", "sum(others, first.bfloat16())"),
        ("sum(rest, first.double())", "sum(rest, first.bfloat16())"),
        ("total.double().add_(found)", "total.bfloat16().add_(found)"),
        tests=ROUNDING,
    ),
    *of("deep/clipping/clip_quantile", ("max(first / SPAN, SHORTEST)", "first / SPAN")),
]
