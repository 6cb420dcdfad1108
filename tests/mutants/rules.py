"""Mistakes in rules, mined, hidden and found privately, and in what is said of a table's utility."""

from __future__ import annotations

from tests.mutants.mutant import of

HIDDEN = "mechanisms/microdata/test_hidden_rules.py"
REPORT = "microdata/utility/test_utility_report.py"

MUTANTS = [
    *of(
        "questions/tables/itemsets",
        ('"l1": float(choices)', '"l1": 1.0'),
        ('"l2": math.sqrt(choices) * (1 + 2.0**-50)', '"l2": 1.0'),
        (
            "most = np.zeros(where.max() + 1, dtype=np.int64)\n    np.maximum.at(most, where.ravel(), different[1])",
            "most = np.ones(1)",
        ),
        ("self.homes[None, :] > last[:, None]", "self.homes[None, :] >= last[:, None]"),
        ("range(int(truth), size)", "range(size)"),
        ("return np.where(missing, np.nan, place_among", "return np.where(missing, 0.0, place_among"),
    ),
    *of(
        "mechanisms/microdata/strong_rules",
        ("own >= least], own[own >= least]", "own > least], own[own > least]"),
        (">= self.ratio.numerator * firsts", "> self.ratio.numerator * firsts"),
        ("* n), 1)", "* n), 0)"),
    ),
    *of(
        "mechanisms/microdata/guarded_deletion",
        ("if np.where(was, still, ~grown[0]).all():", "if True:"),
        ("return self._put_back(present, taken)", "return present"),
        ("rows = rows[: int(min(len(rows), allowed - taken.count))]", "pass"),
        tests=HIDDEN,
    ),
    *of(
        "mechanisms/microdata/hiding_task",
        ("part = self.thresholds, 1 - self.margin", "part = self.thresholds, 1.0"),
        ("if self.items.homes[item] not in homes", "if True"),
        ("if rule not in was and rule not in sensitive", "if rule in was"),
        ("if rule not in now and rule not in sensitive", "if rule not in now"),
        tests=HIDDEN,
    ),
    *of(
        "mechanisms/microdata/exact_hiding",
        ("goals[2, :ways] = self.ways.taken", "pass"),
        ("goals[1, ways + 2 * sensitive :] = 1.0", "pass"),
        tests=HIDDEN,
    ),
    *of(
        "mechanisms/microdata/hidden_rules",
        ("changed[taken[:, item], home] = items.without(home)", "changed[taken[:, item], home] = 0.0"),
    ),
    *of(
        "microdata/rules/association_rules",
        ("if rule not in self.rules:", "if False:"),
        ("(sure * n / np.maximum(thens, 1))", "sure"),
        tests="microdata/rules/test_association_rules.py microdata/rules/test_hide_rules.py",
    ),
    *of(
        "microdata/rules/hide_rules",
        ("if items.names != mined.items.names:", "if False:"),
        ("if not victims:", "if False:"),
    ),
    *of(
        "microdata/rules/private_rules",
        ("if found > MOST_SETS:", "if False:"),
        ("half = self.spread.half_width([1.0, max(high[place], 1e-9)], self.confidence)", "half = self.spread.stddev"),
    ),
    *of(
        "questions/tables/grouped_distances",
        ("bound=self.bound.times(view.unit.rows)", "bound=self.bound"),
        ('Bound("linf", float(self.weights.max()))', 'Bound("linf", float(self.weights.max()) / self.size)'),
        ("each = 1 / np.bincount(self.groups)[list(self.groups)]", "each = np.ones(len(self.groups))"),
    ),
    *of(
        "microdata/utility/evaluate_table",
        ("self.question.weights * sum(parts[:-1])", "0.0"),
        ("if subject.size is None:\n        n =", "if False:\n        n ="),
    ),
    *of(
        "microdata/utility/common_columns",
        ("ours.values != theirs.values", "False"),
        ("if type(ours) is not type(theirs):", "if False:"),
        ("np.concatenate([cuts, atoms, np.nextafter(atoms, np.inf)])", "cuts"),
        tests=REPORT,
    ),
    *of(
        "mechanisms/microdata/table_comparison",
        ("float(np.abs(a - b).sum() / 2)", "float(np.abs(a - b).sum())"),
        ("truth = _classes(test, target)", "truth = _classes(train, target)[: len(test)]"),
        ("1 if len(train) < FEW else None", "None"),
        ("1 if len(train) < FEW else None", "1"),
        tests=REPORT,
    ),
    *of(
        "microdata/utility/utility_report",
        ('check_waiver(TITLE, waiver, comparison.event, "evaluate_table")', "pass"),
        tests=REPORT,
    ),
    *of(
        "microdata/own_records",
        ("if isinstance(records, PrivateData):", "if False:"),
        tests="microdata/rules/test_association_rules.py",
    ),
]
