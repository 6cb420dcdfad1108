"""Mistakes in weights of records: what a record adds would grow, or weights would be left out."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "questions/weighted",
        ("np.clip(np.nan_to_num(values, nan=0.0), 0.0, 1.0)", "np.nan_to_num(values, nan=0.0)"),
        ("np.clip(np.nan_to_num(values, nan=0.0), 0.0, 1.0)", "np.clip(np.nan_to_num(values, nan=1.0), 0.0, 1.0)"),
        ("for bit in range(BITS + 1):", "for bit in range(BITS):"),
    ),
    *of(
        "fitting/weighted_estimator",
        ("return permit if task.weight is None else cast(Permit, WeightedPermit(permit, task))", "return permit"),
    ),
    *of(
        "fitting/task",
        ("return self.data.public_size if self.weight is None else None", "return self.data.public_size"),
        tests="fitting/test_weighted_estimator.py",
    ),
]
