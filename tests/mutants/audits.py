"""Mistakes in audits of functions of one's own."""

from __future__ import annotations

from tests.mutants.mutant import of

AUDITED = "audit/test_audited.py"

MUTANTS = [
    *of(
        "audit/function_audit",
        ("rng = np.random.default_rng([self.seed, 1])", "rng = search.rng"),
        ("sure = 1 - (1 - self.confidence) / PARTS", "sure = self.confidence"),
        ("if len(pairs) == 1:", "if pairs:"),
        ("if any(block.fell_back for side in drawn for block in side):", "if False:"),
        ("pairs += varied", "pass"),
        ("if self.looks_at_bits(here):\n            bits", "if False:\n            bits"),
        ('values.dtype.kind == "f" and self.function.grid is None', 'values.dtype.kind == "f"'),
        tests=AUDITED,
    ),
    *of(
        "audit/audited",
        ("return neighbors is not None and", "return neighbors is None or"),
        ("verdict = judged(claimed(claim, delta)", "verdict = judged(mechanism.event"),
    ),
    *of(
        "audit/audited_function",
        ("self.function(records.copy(), **given", "self.function(records, **given"),
        ("raised[run] = True", "found.append(0.0)"),
        ("spread[~raised] = values", "spread[:] = 0.0"),
        ("return math.nan if value is None else value", "return 0.0 if value is None else value"),
        ("or len(values) != runs", "or False"),
        tests=f"audit/test_audited_function.py {AUDITED}",
    ),
    *of(
        "audit/neighboring_records",
        ("for row in (*rows, corners.middle))", "for row in rows)"),
        ("else np.empty((0, *other.shape[1:]), dtype=other.dtype)", "else records"),
        ("rows == self.upper, self.lower, self.upper", "rows == self.upper, self.upper, self.lower"),
        ("for corner in (corners.lower, corners.upper):", "for corner in (corners.lower,):"),
        ("in ((low, high), (high, low)):", "in ((low, high),):"),
        ("int(self.upper) - int(self.lower) >= VALUES", "True"),
        ("np.arange(int(self.lower) + 1,", "np.arange(int(self.lower) + 2,"),
        ("if neighbors is Neighbors.ADD_REMOVE else corners.lower", "if True else corners.lower"),
    ),
    *of(
        "audit/exact_loss",
        ("float(max(np.maximum(over, 0).sum(), np.maximum(back, 0).sum()))", "float(np.maximum(over, 0).max())"),
        ("over, back = self.first - factor * self.second", "over, back = self.first - self.second"),
        tests="audit/test_exact_loss.py",
    ),
    *of(
        "audit/last_bits",
        ("exponents.astype(np.int64) - 54", "exponents.astype(np.int64) - 53"),
        ("-NONE).min", "-NONE).max"),
    ),
    *of("audit/timing", ("if longer < APART or", "if"), ("pvalue > RISK", "pvalue < RISK")),
    *of("audit/audit_report", ("return self.shown <= self.claimed", "return True"), tests=AUDITED),
    *of(
        "audit/audited_estimator",
        ("X[coins], y[coins]", "X, y"),
        ("return -np.linalg.norm", "return np.linalg.norm"),
    ),
    *of("service/cli/audit_command", ("DONE if report.holds else REFUTED", "DONE"), ("NAME.fullmatch", "NAME.match")),
]
