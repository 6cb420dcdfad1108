"""Mistakes in linear models of a number: means by their logarithms, and quantiles."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "questions/gradients/number_gradients",
        ("found = -away(scores, targets) * step", "found = away(scores, targets) * step"),
    ),
    *of(
        "learners/linear/generalized_linear",
        ("lost**2 + (SIZES * moved) ** 2", "lost**2"),
        ("if lower < 0:", "if False:"),
    ),
    *of(
        "learners/linear/stepped_regressor",
        ("return cls(white, count, count * min(reach * kept, 1.0) / kept**2)", "return cls(white, count, count / 8)"),
        ("seen = grown(REACH, FARTHEST, ", "seen = min(REACH, "),
        tests="learners/linear/test_generalized_linear.py",
    ),
    *of(
        "learners/linear/target_distribution",
        ("feigned = min(TAIL * stddev / max(float(counts.sum()), 1.0), QUARTER)", "feigned = 0.0"),
        ("float(self.values @ self.shares) + beyond", "float(self.values @ self.shares)"),
        ("if level < low:", "if False:"),
    ),
    *of(
        "learners/linear/quantile_regressor",
        ("return (_narrowed(begun, variance) - 1) * float(ndtri(self.level))", "return 0.0"),
        ("coef * begun.unit", "coef"),
    ),
    *of(
        "learners/linear/sparse_regression",
        ("current - STEP * gradient", "current + STEP * gradient"),
        ("np.argsort(-np.abs(coef)", "np.argsort(np.abs(coef)"),
        ('found["intercept_"] + float(coef[left] @ middle)', 'found["intercept_"]'),
        ("if kept > inputs:", "if False:"),
    ),
]
