"""Mistakes in attacks that link records, or undo what was done to a table."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "attacks/linkage/scoreboard",
        ("1 / np.log(np.maximum(released.support, 2))", "np.log(np.maximum(released.support, 2))"),
        ("best if eccentricity > self.eccentricity else NOBODY", "best"),
        ("if len(found) == 1 else", "if len(found) else"),
        ("return alike + 1 if", "return alike if"),
    ),
    *of(
        "attacks/linkage/ratings",
        ("order = np.lexsort((who, what))", "order = np.argsort(what)"),
    ),
    *of(
        "attacks/perturbed/independent_components",
        ("linear_sum_assignment(-size)", "linear_sum_assignment(size)"),
        ("int((alike >= self.alike).sum())", "len(alike)"),
    ),
]
