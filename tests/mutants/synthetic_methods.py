"""Mistakes in methods of making up records."""

from __future__ import annotations

from tests.mutants.mutant import of

ROOM = "microdata/synthetic"
METHODS = f"{ROOM}/test_methods.py"
MWEM = f"{ROOM}/test_mwem_method.py"

MUTANTS = [
    *of(
        "questions/tables/coded_measurements",
        ("coding.places(records)))\n\n    def total", "0 * coding.places(records)))\n\n    def total"),
    ),
    *of("questions/tables/coded_tables", ("(edges[1:] + edges[:-1]) / 2 if", "edges[:-1] - 1.0 if")),
    *of(
        "questions/tables/splits",
        ("bound = self.bound.times(view.unit.rows)", "bound = self.bound"),
        ("-self.grid.exponent - 1", "-self.grid.exponent"),
        ("ONE_CELL, coding.columns", 'Bound("l1", 0.5, nonnegative=True), coding.columns'),
        ("or any(a >= b for a, b in pairwise(starts))", ""),
        ("if one.column == self.target or not", "if not"),
    ),
    *of(
        f"{ROOM}/measured_tables",
        ("member.information(part, self.codes.sizes) / stddev**2", "member.information(part, self.codes.sizes)"),
        ("return self.residuals.marginal(axes)", "return np.maximum(self.residuals.marginal(axes), 0.0)"),
        ("exact + generator.normal(0, stddev, exact.shape)", "exact + generator.normal(0, stddev / 2, exact.shape)"),
        ("if self.size is not None:", "if False:"),
        ("table.transpose(np.argsort(axes)) for axes, table in zip(", "table for axes, table in zip("),
    ),
    *of(
        f"{ROOM}/synthetic_table",
        ("np.exp(likelier - likelier.max())", "np.exp(likelier)"),
        ("if not len(self.records):", "if False:"),
        tests=METHODS,
    ),
    *of(
        f"{ROOM}/made_up_records",
        ("unknown & (not asks_for_missing(condition))", "True"),
        ("values[missing, place] = np.nan", "pass"),
        tests=f"{ROOM}/test_whole_tables.py",
    ),
    *of(f"{ROOM}/product_model", ("found *= _along", "found = found * 1.0 + 0 * _along")),
    *of(f"{ROOM}/product_model", ("if size > MOST_JOINT:", "if False:"), tests=METHODS),
    *of(
        f"{ROOM}/network_model",
        ("groups = self.codes.codes(places, family[:-1])", "groups = 0 * self.codes.codes(places, family[:-1])"),
    ),
    *of(
        f"{ROOM}/leaf_model",
        ("np.where(stretches == np.arange(len(starts))[:, None], margin, 0.0)", "np.tile(margin, (len(starts), 1))"),
    ),
    *of(
        f"{ROOM}/contingency_method",
        ("tuple((stddev / measured.weights).tolist())", "(stddev,) * len(numbers)"),
        ("size = asker.of.data.public_size", "size = None"),
        ('check_joint(layout, "contingency")', "pass"),
        tests=METHODS,
    ),
    *of(
        f"{ROOM}/mwem_method",
        ("self.layout.noise(each * TABLES / self.rounds)", "self.layout.noise(each * TABLES)"),
        ("asker.counts([axes], noise), asker.stddev([axes], noise)", "asker.counts([axes], noise), 1.0"),
        ("FIRST if any(pair <= set(axes) for pair in named) else 0.0", "0.0"),
    ),
    *of(f"{ROOM}/mwem_method", ("if not layout.curated:", "if False:"), tests=METHODS),
    *of(
        f"{ROOM}/privbayes_method",
        ("[:MOST_FAMILIES]", ""),
        ("range(2, min(degree, len(there)) + 1)", "range(2, 2)"),
    ),
    *of(
        f"{ROOM}/privbayes_method",
        ("(ones, *(choice, table) * self.rounds)", "(ones, *(choice, table) * (self.rounds - 1))"),
        tests=METHODS,
    ),
    *of(
        f"{ROOM}/diffgen_method",
        ("for first, end in pairwise((*own, size)):", "for first, end in [(0, size)]:"),
        ("<= MOST_LEAVES:", "<= 2 * MOST_LEAVES:"),
    ),
    *of(
        f"{ROOM}/diffgen_method",
        (
            "(ones, *[choice] * self.rounds, self.layout.noise(each * LEAVES))",
            "(ones, choice, self.layout.noise(each * LEAVES))",
        ),
        ("if layout.target is None:", "if False:"),
        tests=METHODS,
    ),
]
