"""Mistakes in expressions, computed columns, selections and the reading of SQL."""

from __future__ import annotations

from tests.mutants.mutant import of

AUDITED = "query/select/test_selection_audit.py query/select/test_selection.py"
SQL = "query/select/test_sql.py"
MUTANTS = [
    *of(
        "schema/expression",
        ("found = np.where(condition.mask(values), one.values(values), found)", "found = one.values(values)"),
        ("right = np.where(right == 0, np.nan, right)", "right = right"),
        ("other.lower, -other.least, other.least, other.upper", "other.lower, other.upper"),
        ("for condition, one in reversed(self.whens)", "for condition, one in self.whens"),
        ("if len(found) > LONGEST_SQL:", "if False:"),
        ("return np.where(np.abs(found) < TINY, 0.0, found)", "return found"),
        ('raise ParameterError(ASKED, "it takes the root', 'pass; ParameterError(ASKED, "it takes the root'),
        ("min(ends), max(ends), self.least * other.least / 2", "ends[0], ends[-1], self.least * other.least / 2"),
        ("grain = min(self.multiple, other.multiple)", "grain = min(self.least, other.least) * 2.0**-53"),
    ),
    *of(
        "schema/expression_text",
        (
            "            found = self._computed(sign, found, self._factor())",
            "            found = self._computed(sign, self._factor(), found)",
        ),
        ("if len(written) > LONGEST or ", "if "),
        tests="schema/test_expression.py trust/test_derived_trust.py",
    ),
    *of(
        "questions/transformed",
        ("before=(*first, *tally.before)", "before=(*tally.before, *first)"),
        ("tally=None if tally is None or made is None else", "tally=None if tally is None else tally if tally else"),
        ("None if condition is None else ConditionAfter(condition, self._by)", "None"),
        tests="trust/test_derived_trust.py",
    ),
    *of(
        "schema/expressed",
        (
            "return np.clip(self.expression.values(values), self.number.lower, self.number.upper) + 0.0",
            "return self.expression.values(values)",
        ),
        ("return Formula.column(place).moved(self.number.lower, self.number.upper)", "return Formula.column(place)"),
        tests="trust/test_derived_trust.py",
    ),
    *of(
        "trust/derived_trust",
        (
            "return self.trust.ask(transformed(question, self.by), mechanism)",
            "return self.trust.ask(question, mechanism)",
        ),
        ("if not any(name in trust.derived for one in new for name in one.reads):", "if False:"),
        ("if trust.steps >= MOST_STEPS:", "if False:"),
    ),
    *of(
        "query/select/selection",
        ("with self.data.permit(self.plan.event, purpose, key=key)", "with self.data.permit(self.plan.event, purpose)"),
        (
            "JointPlan(staged(self.data, self.stages, self.budget).mechanisms)",
            "JointPlan(staged(self.data, self.stages, self.budget).mechanisms, 1.5)",
        ),
        ("for one in sums))), self.budget)", "for one in sums))), Budget(2 * self.budget.epsilon, self.budget.delta))"),
        ("shares[key] = shares.get(key, 0.0) + one.weight", "shares[key] = 1.0"),
        ("if texts and self.budget.delta == 0:", "if False:"),
        ("if len(texts) > 1:", "if False:"),
        ("_degree(found) > _degree(richest.get(one.column))", "_degree(found) < _degree(richest.get(one.column))"),
        ("moments.count() if whole else moments.total()", "moments.total() if whole else moments.count()"),
        ("        if nobody:\n", "        if False:\n"),
        ('and np.ndim(own.get("q", 0.5)) == 0', "and True"),
        ('check_positive(ASKED, f"the weight of {self.label}", self.weight)', "pass"),
        ("key=lambda one: (-one[1], one[0])", "key=lambda one: (one[1], one[0])"),
        ("Category(tuple(counts) or (PLACEHOLDER,))", "Category(tuple(counts))"),
        tests=AUDITED,
    ),
    *of(
        "query/select/sql_text",
        ("sign = OPPOSITE[SIGNS[kind]] if negated else SIGNS[kind]", "sign = SIGNS[kind]"),
        ('word = "and" if (kind == "And") != negated else "or"', 'word = "and" if kind == "And" else "or"'),
        ('("!=", "and") if negated', '("!=", "or") if negated'),
        ('or {column} is missing)" if negated', ')" if negated'),
        ("then 1 when {self.condition(node, True)} then 0 end", "then 1 else 0 end"),
        ("found = OPTIONS.match(text)", "found = OPTIONS.search(text)"),
        ("if most > DEEPEST or words > MOST_TOKENS or repeated:", "if False:"),
        ('(">=", "<=") if not negated else ("<", ">")', '(">=", "<=")'),
        ("if len(statements) != 1 or ", "if "),
        ('and not node.args.get("symmetric")', ""),
        tests=SQL,
    ),
    *of(
        "query/select/sql_rows",
        ('            found.filtered(node.args["where"].this)', "            pass"),
        ("if found and name not in CLAUSES:", "if False:"),
        ("        for clause in OUTSIDE:", "        for clause in ():"),
        ('if alias is not None and alias.args.get("columns"):', "if False:"),
        ("                if any(item.args.values()):", "                if False:"),
        ('if node.args.get("recursive"):', "if False:"),
        (' or kind_of(node.this) != "Identifier"', ""),
        ("plain = not any(found for", "plain = True or any(found for"),
        tests=SQL,
    ),
    *of(
        "query/select/sql",
        ('if any(found for name, found in node.args.items() if name != "expressions"):', "if False:"),
        ('or order[0].args.get("desc")', ""),
        (
            'kind_of(node) != "Column" and node not in self.grouped',
            'kind_of(node) != "Column" and label not in self.groups',
        ),
        ("if found not in self.groups.values():", "if label not in self.groups:"),
        ("if said[name] != given[name]:", "if False:"),
        ("        for name in self.rows.bounds:", "        for name in ():"),
        ("isinstance(self.rows.data.schema.columns[column], Number)", "False"),
        tests=SQL,
    ),
    *of(
        "query/select/shown_rows",
        ("-keys if by.descends else keys", "keys"),
        ("for by in reversed(self.order)", "for by in self.order"),
        ("kept = kept[: self.limit]", "kept = kept"),
        (
            "SIGNS[one.sign](table[one.column].values[kept], one.value)",
            "SIGNS[one.sign](one.value, table[one.column].values[kept])",
        ),
        tests=SQL,
    ),
]
