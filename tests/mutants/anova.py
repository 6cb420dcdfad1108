"""Mistakes in what smooth ANOVA models make of noise, where there is little else."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "learners/anova/anova_posterior",
        ("np.square(pulled).mean(axis=1) - np.diag(information)", "np.square(pulled).mean(axis=1)"),
        ("prior * min(MOST * variance / self._expected(prior), 1.0)", "prior"),
    ),
    *of(
        "learners/anova/smooth_bases",
        ("np.clip(found, quantile_of(function, rare), quantile_of(function, 1 - rare))", "found"),
        ("LINE * variances[0], (1 - LINE)", "0.0, (1 - LINE)"),
    ),
    *of(
        "learners/anova/anova_regressor",
        ("ANYWHERE * noise**2 / count", "0.0"),
    ),
    *of(
        "learners/anova/anova_model",
        ("if seen < HIDDEN:", "if seen < 0.0:"),
        ("HIDDEN <= seen < DIM", "seen < DIM"),
        ("rounds > 1 and HIDDEN", "HIDDEN"),
        ("target.ask(permit, rest.pop())", "permit.ask(self.target_counts(task), rest.pop())"),
        ("for noise in rest:", "for noise in rest[:1]:"),
        ("plan.spreads[-1].stddev) >= HIDDEN", "plan.spreads[-1].stddev) < HIDDEN"),
        tests="learners/anova",
    ),
    *of(
        "learners/anova/constant_search",
        ("self.cuts = max(place - near, 0.0), min(place + near, 1.0)", "self.cuts = 0.0, 1.0"),
        ("max(CLOSE * doubt, CLOSEST / 2)", "CLOSE * doubt"),
        ("max(count.value - FAR * deviation, FEWEST)", "count.value - FAR * deviation"),
        ("self._likely = self._likely - (", "self._likely = -("),
        ("(2 * stddev**2)", "2"),
        (
            "min(max(number.lower * (1 - cut) + number.upper * cut, number.lower), number.upper)",
            "number.lower + (number.upper - number.lower) * cut",
        ),
        tests="learners/anova",
    ),
    *of(
        "learners/anova/anova_fit",
        ("(information / self._information)", "1.0"),
        tests="learners/anova",
    ),
]
