"""Mistakes in tables that are given away."""

from __future__ import annotations

from tests.mutants.mutant import of

STORED, ROLES = "trust/test_stored.py", "schema/test_roles.py"
WAIVED, ROOM = "microdata/test_waived_table.py", "microdata/synthetic"

MUTANTS = [
    *of("ledger/book", ("if data is not None and result_digest(data) != digest:", "if False:"), tests=STORED),
    *of("trust/permit", ("self._ledger.keep(text_of_artefact(made).encode())", "pass"), tests=STORED),
    *of("schema/roles", ("if self[name] != IDENTIFYING)", ")"), ("if not self.quasi_identifiers:", "if False:")),
    *of("schema/roles", ("get(name, OTHER)", "get(name, QUASI)"), tests=ROLES),
    *of("schema/roles", ("if not isinstance(roles, Mapping | Roles | None):", "if False:"), tests=ROLES),
    *of("core/checks", ('if is_single(value) else f"a {type(value).__name__}"', ""), tests="core/test_parameters.py"),
    *of("trust/holder", ("check_text(purpose, name, text)", "pass"), tests="microdata/test_odd_parameters.py"),
    *of(
        "microdata/published_table",
        ("if not _fit(column, values[~np.isnan(values)]):", "if False:"),
        (".astype(np.int64), mask=missing)", ".astype(np.int64))"),
        ("return whole and bool(((there == np.rint(there)) & (np.abs(there) < MOST_WHOLE)).all())", "return whole"),
    ),
    *of("microdata/waived_table", ("if waiver is None or not waiver.strip():", "if False:"), tests=WAIVED),
    *of(
        "questions/tables/coded_tables",
        ("math.sqrt(len(sets)) * (1 + 2.0**-50)", "1.0"),
        ('float(len(sets)) if norm == "l1"', '1.0 if norm == "l1"'),
        ("np.where(missing, size - 1, cells)", "np.where(missing, 0, cells)"),
        ("self.bound.times(view.unit.rows)", "self.bound"),
        ("& (self.weights <= 1.0)", ""),
        ("~((values >= 0) & (values < size - 1))", "np.isnan(values)"),
    ),
    *of(
        "mechanisms/selection/spanning_tree",
        ("noise_multiplier(answer, self.epsilon / (self.nodes - 1))", "noise_multiplier(answer, self.epsilon)"),
        ("np.where(joined, -np.inf, scores)", "scores"),
        audits=("SpanningTree",),
    ),
    *of(
        "microdata/synthetic/tree_model",
        ("return self.unbiased.pairs[first, second]", "return self.tables[first, second]"),
        ("if found[-1] < CLEAR * stddev:", "if False:"),
        ("total=total_of(ones, self.size)", "total=self.total"),
    ),
    *of(
        "microdata/synthetic/nearest_tables",
        ("1 / (others * self._variance(edge))", "1 / self._variance(edge)"),
        ("1 / (self.others * np.repeat(variances, 2))", "1 / np.repeat(variances, 2)"),
        ("means[::2] = 0.0", "means[::2] = 1.0"),
        ("self.others.get(edge, self.two) ** 2", "self.two**2"),
        ("np.maximum(agreed + slack, 0.0)", "np.maximum(agreed, 0.0)"),
        ("slack + agreed - aims", "slack"),
        ("math.prod(size - 1 for size in table.shape)", "table.size"),
        ("max(1 - noise / max(squares, LEAST_SQUARES), 0.0)", "1.0"),
        ("variance * (max(table.shape) - 1)", "variance"),
    ),
    *of(
        "microdata/synthetic/likely_counts",
        ("log_ndtr(at) - log_ndtr(1 / spread)", "log_ndtr(at)"),
        ("np.square(rates) / 2", "0.0"),
        (" * np.exp(filled - likelihoods), likelihoods", ", likelihoods"),
        ("np.where(at < -FAR, 1 / np.maximum(-at, 1.0), means)", "means"),
        ("np.maximum(expected, LEAST * stddev)", "expected"),
    ),
    *of(
        "microdata/synthetic/tree_method",
        ("if faint else []", "if not faint else []"),
        ("< FAINT", "< 0.0"),
    ),
    *of(
        "microdata/synthetic/dealt_records",
        ("(groups if codes is None else codes)[mixed]", "groups[mixed]"),
        ("within * GOLDEN", "within * 0"),
        ("if cells > MOST_ALIKE:", "if False:"),
    ),
    *of(
        "microdata/synthetic/number_cells",
        (
            "np.where(alone, self._roundest[leaf], self._rounded(values, left, right))",
            "self._rounded(values, left, right)",
        ),
        ("np.where(alone, self._roundest[leaf], self._rounded(values, left, right))", "values"),
    ),
    *of(
        "microdata/synthetic/synthesis",
        ("leaf_question(of.schema, name, layout.norm)", 'leaf_question(of.schema, name, "l2")'),
        ("Laplace(1 / share)", "Laplace(1 / share**0.5)"),
        tests=f"{ROOM}/test_synthesis.py {ROOM}/test_synthesize.py",
    ),
    *of(
        "microdata/synthetic/made_up_records",
        ("found[self._fulfilled(found)] if self.constraints else found", "found"),
        ("found[generator.permutation(len(found))]", "found[np.lexsort(found.T)]"),
        tests="microdata/synthetic/test_synthesize.py",
    ),
    *of(
        "microdata/synthetic/adaptive_method",
        ("penalties.append(weight * own)", "penalties.append(0 * own)"),
    ),
    *of(
        "microdata/synthetic/junction_model",
        ("1 / (number * own.stddev**2)", "1 / own.stddev**2"),
        ("total=total_of(ones, self.size)", "total=self.total"),
        ('notes.get("size", notes["total"])', 'notes.get("size")'),
        ("potentials[axes] - length * slope", "potentials[axes] + length * slope"),
        tests=f"{ROOM}/test_junction_model.py {ROOM}/test_adaptive_method.py",
    ),
    *of(
        "microdata/synthetic/known_counts",
        ("if not (laplace and len(falling)):", "if True:"),
        ("Law(float(np.linalg.norm(falling[FEW:] / unit)), scales[:FEW] / unit)", "Law(0.0, scales[:FEW] / unit)"),
        ("scales[:FEW] / unit)", "scales[:FEW])"),
    ),
    *of(
        "microdata/synthetic/clique_tree",
        ("self.spread(known - up[place], shared, place)", "self.spread(known, shared, place)"),
        ("near[axis] = (near[axis] | near[best])", "near[axis] = near[axis]"),
    ),
    *of(
        "microdata/synthetic/compared_tables",
        ("(max(wide, 0.0) + max(totals, 0.0)) / 2", "max(wide, 0.0) / 4"),
        ("np.concatenate([own * scale for own", "np.concatenate([own * 0 for own"),
        ("self._by_set[int(np.argmin(self.codes.sizes)),]", "min(self._by_set.values())"),
    ),
    *of(
        "microdata/synthetic/tree_model",
        ("* stddev * cells, MOST_NOISE)", "* stddev * cells, 2.0**60)"),
        tests=f"{ROOM}/test_synthesize.py",
    ),
    *of(
        "microdata/synthetic/tree_method",
        ("for table in tables]) - self._first(pairs)", "for table in tables])"),
        tests=f"{ROOM}/test_synthesize.py",
    ),
    *of(
        "microdata/synthetic/tree_method",
        ("(added <= 2 * NOISY * tree.total) &", "(added <= 2.0**60) &"),
        ("and max(map(len, cliques)) <= WIDEST", ""),
        ("if not self.chooses:", "if False:"),
        ("share if self.layout.pure else", "2 * share if self.layout.pure else"),
        ('WidenedTree if "more" in notes else TreeModel', "TreeModel"),
    ),
    *of(
        "microdata/synthetic/widened_tree",
        ("expected = self._seen(edge, self.tree.pair_tables[edge])", "expected = table"),
        ("self.stddev**2 * table.size", "0.0"),
        ("tree = self.tree.shrunk", "tree = self.tree.noisy"),
        ("aims.update({(a, b): own for (a, b), own in self._nearest.pairs.items()})", "pass"),
        ("total=total_of(ones, self.tree.size)", "total=self.tree.total"),
        ("self._drawn(edge, self.stddev, generator)", "self._drawn(edge, 0.0, generator)"),
    ),
    *of(
        "microdata/synthetic/clique_tree",
        ("for place, before, shared in self.order[1:]:\n            moved(place, before, shared)", "pass"),
        ("if (place, before, shared) in self.order:", "if before < 0:"),
    ),
    *of(
        "microdata/synthetic/tree_model",
        ("self._oriented(parent, column) / self.margins[parent][:, None]", "self._oriented(parent, column)"),
        ("share = self.two**2 / (self.two**2 + stddev**2)", "share = 0.5"),
    ),
    *of("mechanisms/microdata/changed_rows", ("values.take(permutation(bits, len(values)), axis=0)", "values")),
]
