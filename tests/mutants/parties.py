"""Mistakes in how parties add up: schemes of sums, and the noise that they make together."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "mechanisms/additive/binomial",
        (
            "return max(2, 2 * math.ceil(2 * (self.multiplier * self.moves) ** 2))",
            "return max(2, 2 * math.ceil((self.multiplier * self.moves) ** 2))",
        ),
        ("    if moved > moves * (1 + 2.0**-40):", "    if False:"),
        ("return 2 * -(-self.total // (2 * self.honest))", "return 2 * (self.total // (2 * self.honest))"),
        ("and loss_of(total, moves) == event:", "and True:"),
        ("beyond = float(p[-1] + chances[-moves:].sum())", "beyond = float(p[-1])"),
    ),
    *of("noise/coin_sums", ("tossed[:, -1] & last", "tossed[:, -1]"), ("out -= coins // 2", "out -= coins")),
    *of(
        "trust/schemes/masks",
        ("return quorum.threshold - quorum.colluding", "return quorum.threshold"),
        tests="trust/schemes/test_sum_scheme.py",
    ),
    *of(
        "trust/federation",
        ('**({} if self.scheme == "masks" else {"scheme": self.scheme})', '**{"scheme": self.scheme}'),
        tests="trust/schemes",
    ),
]
