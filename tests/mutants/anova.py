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
        "learners/anova/anova_regressor",
        ("ANYWHERE * noise**2 / count", "0.0"),
    ),
]
