"""Mistakes in what PostgreSQL decodes, keeps and adds up, and in functions of single records."""

from __future__ import annotations

from tests.mutants.mutant import of

POSTGRES = "trust/sources/test_postgres.py"
MAPPED = "trust/test_mapped_trust.py"
MUTANTS = [
    *of(
        "core/formula",
        ("if not isinstance(numbers, Formula):\n", "if True:\n"),
        ('(Formula(f"abs({numbers.sql})"), width)', "(numbers, width)"),
        tests=POSTGRES,
    ),
    *of(
        "core/formula",
        ("elif place != NOUGHT or cells > 1:", "elif cells > 1:"),
        ("number = number * cells + place", "number = number + place"),
        tests="core/test_formula.py",
    ),
    *of(
        "questions/columns/total",
        ("(never_tiny(Formula.column(0) - origin, radius),)", "(Formula.column(0) - origin,)"),
        tests=POSTGRES,
    ),
    *of(
        "trust/sources/columns/postgres_column",
        ('.replace("\\\\", "\\\\\\\\").replace("\'", "\'\'")', '.replace("\'", "\'\'")'),
        ("finite = f\"{value} > '-Infinity' AND {value} < 'Infinity'\"", 'finite = "TRUE"'),
        ("abs({own}) <= {TOO_SMALL}", "FALSE"),
        ("abs({own}) < {TOO_LARGE} AND ", ""),
        (" AND length(trim_scale({own})::TEXT) <= {LONGEST}", ""),
        ("date_part('epoch', date_trunc('second', {own}))", "date_part('epoch', {own})"),
        ('zone, typed = ("+00", "TIMESTAMPTZ")', 'zone, typed = ("", "TIMESTAMPTZ")'),
        ('octet_length({own}) <= {LONGEST}"', 'TRUE"'),
        ("coalesce(nullif({short}, '-0'), '0')", "{short}"),
        ("if oid not in TEXTS or forms:", "if oid not in TEXTS:"),
        tests=POSTGRES,
    ),
    *of(
        "trust/sources/postgres",
        ('if encoding != "UTF8" or', "if"),
        ("% (2 * WRAPPED) - WRAPPED for", "% (2 * WRAPPED) for"),
        ('whole = "INTEGER" if question', 'whole = "INTEGER" if True or question'),
        ("and not places & others", ""),
        ("WHERE NOT EXISTS ({crowded})", ""),
        ("CREATE TEMPORARY TABLE {_bare(kept)}", "CREATE TABLE public.{_bare(kept)}"),
        tests=f"{POSTGRES} trust/test_same_bits.py",
    ),
    *of(
        "trust/sources/adbc_connection",
        ("if not _UNWANTED or _IN_USE or", "if not _UNWANTED or"),
        ("            _drop_unwanted()\n", "            pass\n"),
        tests=POSTGRES,
    ),
    *of("trust/sources/query", ("if isinstance(self._kept, PostgresKept) and not", "if False and not"), tests=POSTGRES),
    *of(
        "questions/mapped",
        ("* (self.places - len(seen))", "* 0"),
        ("if len(records) <= self.places:", "if True:"),
        ("records[sorted(range(len(records)), key=digests.__getitem__)[: self.places]]", "records[: self.places]"),
        ("bound = dataclasses.replace(bound, nonnegative=False)", "pass"),
        ("bound.times(rows.unit.rows)", "bound"),
        ("there[:, 0] = True", "pass"),
        ("own[~np.isin(own, np.arange(len(kind.values)))] = np.nan", "pass"),
        tests=MAPPED,
    ),
    *of("questions/fixed_rows", ("[: self.rows]", ""), tests=MAPPED),
    *of(
        "trust/mapped_trust",
        ("(2 if trust.neighbors is Neighbors.ADD_REMOVE else 1)", "1"),
        ("            if found is None:\n", "            if True:\n"),
        ("        if not isinstance(question, BoundedSum):", "        if False:"),
        tests=MAPPED,
    ),
]
