"""Mistakes in relations: their reach, their rows, and what may be asked of them."""

from __future__ import annotations

from tests.mutants.mutant import of

NODES = "schema/relation/test_relation_node.py"
PLANS = "trust/test_random_relations.py::test_no_unit_moves_more_rows_than_the_reach"
UNITS = "trust/test_per_unit.py"
ROWS = "trust/sources/test_related_rows.py"
TRUST = "trust/test_related_trust.py"
ASKED = "query/select/test_related.py"
WEIGHTED = "trust/sources/test_weighted_rows.py"
MUTANTS = [
    *of(
        "schema/relation/relation_node",
        ("return RowReach(self.rows + other.rows, both, weighted)", "return RowReach(self.rows, both, weighted)"),
        ("None if self.rows is None else self.rows * rows", "self.rows"),
        ("if self.reach.both_ways or self.reach.weighted:", "if self.reach.weighted:"),
        ("        if self.reach.rows is None:\n            obstacle", "        if False:\n            obstacle"),
        ("if rows > MOST_ROWS:", "if False:"),
        tests=NODES,
    ),
    *of(
        "schema/relation/joined_rows",
        (".times(2 * self.most) + RowReach(0, both_ways=True)", ".times(self.most) + RowReach(0, both_ways=True)"),
        (".times(2 * self.most) + RowReach(0, both_ways=True)", ".times(2 * self.most)"),
        ("return self.left.reach.times(max(1, self.most or 0))", "return self.left.reach"),
        ("self.left.reach.times(max(1, met))", "self.left.reach"),
        ("if not join.by_unit and join.most is None:", "if False:"),
        ("if not join.by_unit and join.outer:", "if False:"),
        ("    if kinds[0] != kinds[1]:", "    if False:"),
        tests=f"{NODES} {ASKED}",
    ),
    *of(
        "schema/relation/joined_rows",
        ('*(["l.u = r.u"] if self.by_unit else [])', "*[]"),
        ("WHERE rank <= {self.most}", "WHERE rank <= {self.most} + 1"),
        ("enough = self.by_unit and", "enough ="),
        ("md5(concat_ws('|', {texts}))", "random()"),
        ('*(["u"] if self.by_unit else []), *(f"c{one}"', '*[], *(f"c{one}"'),
        tests=f"{PLANS} {ROWS}",
    ),
    *of(
        "schema/relation/joined_rows",
        ("in dict.fromkeys(keys)", "in keys"),
        tests="trust/sources/test_postgres_related.py",
    ),
    *of(
        "trust/sources/postgres_related",
        ("if any(_has_zeros(rows) for rows in public.values()):", "if False:"),
        ("len({query.place for query in queries.values()}) > 1", "False"),
        ('TYPE TEXT COLLATE "C"', "TYPE TEXT"),
        ("                query.check_ready()", "                pass"),
        ("if not shielded(ASKED, self._there):", "if True:"),
        ("limited_rows.START: START", 'limited_rows.START: "0"'),
        tests="trust/sources/test_postgres_related.py",
    ),
    *of(
        "schema/relation/per_unit",
        ("return cls(of.unlimited(), tuple(every), tuple(by))", "return cls(of, tuple(every), tuple(by))"),
        ("return RowReach(None if self.by else 1)", "return RowReach(1)"),
        ("if own is None or own.column is None:", "if own is None:"),
        tests=f"{UNITS} {ASKED} {PLANS}",
    ),
    *of(
        "schema/relation/unit_column",
        ("CASE WHEN min({value}) = max({value}) THEN min({value}) END", "min({value})"),
        ("FINE, COARSE = 40, 30", "FINE, COARSE = 40, 29"),
        ("if ends is None:", "if False:"),
        ("CASE WHEN {own} IS NOT NULL THEN 1 END", "1"),
        tests=UNITS,
    ),
    *of(
        "schema/relation/limited_rows",
        ("WHERE {choice(START, self.rows)}", "WHERE place < {self.rows}"),
        ("content, self.rows)", "content, self.rows + 1)"),
        tests=f"{ROWS} {PLANS}",
    ),
    *of(
        "schema/relation/relation_node",
        ("HAVING count(*) > {self.most}", "HAVING count(*) > {self.most} + 1"),
        ("WHERE {there} AND NOT EXISTS ({others})", "WHERE {there}"),
        tests=f"{ROWS} {PLANS}",
    ),
    *of(
        "trust/sources/cell_sums",
        ("return None\n        total", "pass\n        total"),
        ("rows if where is None else rows.filter(where)", "rows"),
        ("nonnegative and not fixed)", "True)"),
        tests="trust/sources/test_several_sums.py conformance/test_recipes.py",
    ),
    *of(
        "trust/sources/several_sums",
        ("return trial.asked[0] if len(trial.asked) == 1 else None", "return trial.asked[0]"),
        ('raise ReadsOtherwise("sample")', "pass"),
        tests="trust/sources/test_several_sums.py",
    ),
    *of(
        "trust/sources/several_sums",
        ("if one is not None and one[0] is source]", "if one is not None]"),
        ("        self._view = self._view.listing(lists)\n", ""),
        tests="trust/sources/test_several_sums.py query/select/test_selection.py",
    ),
    *of(
        "trust/sources/decoded_table",
        ("if question.tally is None or question.tally.before:", "if question.tally is None:"),
        tests="trust/test_ask_each.py",
    ),
    *of(
        "trust/sources/decoded_table",
        ("cumsum([len(own.addends) for own in each])[:-1]", "arange(1, len(each))"),
        ("return [self._columns[name] for name in columns]", "return [*self._columns.values()][: len(columns)]"),
        tests="trust/sources/test_several_sums.py conformance/test_recipes.py",
    ),
    *of(
        "trust/sources/cell_sums",
        ("'UTINYINT' if self.cells <= FEW", "'UTINYINT' if self.cells <= 2 * FEW"),
        ("(row[j] or 0) < EXACT", "(row[j] or 0) < 4 * EXACT"),
        tests="trust/sources/test_several_sums.py conformance/test_recipes.py",
    ),
    *of(
        "core/formula",
        ("if 0 < len(edges) <= COUNTED:", "if len(edges) <= COUNTED:"),
        ("CAST({self.sql} >= {_written(one)}", "CAST({self.sql} > {_written(one)}"),
        ("(of) * once if _plain(factor) and", "(of) * factor if _plain(factor) and"),
        tests="core/test_formula.py trust/sources/test_several_sums.py conformance/test_recipes.py",
    ),
    *of(
        "schema/relation/weighted_join",
        ("a.n + b.n AS s", "a.n AS s"),
        ("RowReach(0, both_ways=True, weighted=True)", "RowReach(0, weighted=True)"),
        ("anywhere: ClassVar[bool] = False", "anywhere: ClassVar[bool] = True"),
        tests=f"{WEIGHTED} trust/sources/test_spark_units.py",
    ),
    *of(
        "trust/sources/weighted_rows",
        ("rests[:-1] // sizes[:-1, None]", "rests[:-1]"),
        ('.order(f"c{width}")', "", "engines happen to join small tables key by key, and promise it of none"),
        ('        raise weighed("hand over rows")', "        return iter(())"),
        tests=WEIGHTED,
    ),
    *of(
        "trust/related_trust",
        ("dataclasses.replace(found.bound, nonnegative=False)", "found.bound"),
        (
            "        return None\n\n    @property\n    def curated",
            "        return super().units\n\n    @property\n    def curated",
        ),
        ("return shown and self.neighbors is Neighbors.ADD_REMOVE", "return True"),
        ("if (both or fixed) and not (", "if fixed and not ("),
        tests=TRUST,
    ),
    *of(
        "trust/sources/related_rows",
        ("            if self._connection is None:\n", "            if True:\n"),
        ("        relation.check_bounded(ASKED)\n", ""),
        tests=f"{ROWS} {TRUST}",
    ),
    *of(
        "questions/tables/distinct_values",
        ("Answer(steps, self.grid, self.bound.times(view.unit.rows)", "Answer(steps, self.grid, self.bound"),
        (
            "bits = (numbers + 0.0)",
            "bits = numbers.copy()",
            "sources give no minus zero; an example in its docstring has one",
        ),
        ("batch[:, 0][~np.isnan(batch[:, 0])]", "batch[:, 0]"),
        tests="statistics/tables/test_count_distinct.py",
    ),
    *of(
        "statistics/tables/key_counts",
        ('    of.data.check_counts_keys(f"values of {column}")\n', ""),
        tests=TRUST,
    ),
    *of(
        "trust/private_data",
        ("if other.ledger is not self.ledger:", "if False:"),
        tests=ASKED,
    ),
    *of(
        "query/select/sql_joins",
        ('if kind_of(one) != "EQ" or', "if"),
        ("if called in left.tables:", "if False:"),
        tests=ASKED,
    ),
    *of(
        "query/select/sql_per_unit",
        ("if own is not None and own not in by:", "if False:"),
        ("if not any(self.rows.is_unit(one) for one in named):", "if False:"),
        tests=ASKED,
    ),
    *of(
        "query/select/sql_select",
        ("if len(counted) < len(self.aggregates):", "if False:"),
        tests=ASKED,
    ),
    *of(
        "query/select/bounds_by_group",
        ("(width, lower)", "(width, 0.0 * lower)"),
        ("if set(ends) != set(values):", "if False:"),
        ("number.lower <= lower < upper <= number.upper", "number.lower <= lower < upper"),
        tests=ASKED,
    ),
    *of(
        "query/select/lost_groups",
        ("return 1 - half if distance > 0 else half", "return half"),
        tests=ASKED,
    ),
    *of(
        "query/select/written_sql",
        ("condition_sql(part, negated) for part in parts", "condition_sql(part) for part in parts"),
        ("*(f'{quoted(column)} IS NULL' for column in columns)", "*[]"),
        tests=ASKED,
    ),
]
