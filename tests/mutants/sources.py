"""Mistakes about records that cannot be read, charges that go on, and values that engines read."""

from __future__ import annotations

from tests.mutants.mutant import of

FAILED = "ledger/test_failed_charge.py trust/test_failed_source.py"

MUTANTS = [
    *of(
        "ledger/chain",
        ("key not in self.waiting and self.turns[key] == turn", "key not in self.waiting"),
        ("return key in self.dangling and key not in self.waiting and", "return key in self.dangling and"),
        ("if link.key in self.waiting:", "if False:"),
        ('del self.waiting[fields["of"]]', 'self.waiting.pop(fields["of"], None)'),
        ('self.turns[fields["of"]] += 1', "pass"),
        tests=FAILED,
    ),
    *of(
        "ledger/book_ledger",
        ('if asked is None or reserved.fields["request"] != self.digest:', "if asked is None:"),
        ("        _check_open(page, accounts, self.purpose)\n        turn", "        turn"),
        (
            '_check_turn(f"commit {reservation.key}", page, reservation)',
            "pass",
        ),
        ('        page.add("resume", page.chain.head, of=self.key)\n', ""),
        tests=FAILED,
    ),
    *of(
        "trust/permit",
        ('if self._asked == 1 and getattr(self._trust, "asks_again", False):', "if self._asked == 1:"),
        ('if self._asked == 1 and getattr(self._trust, "asks_again", False):', "if self._asked:"),
        ("            self._unspent.clear()\n            self._ledger.fail", "            self._ledger.fail"),
        ("if before is not None and before != self._digest(first):", "if False:"),
        ("isinstance(self._charge, Reservation) and not self._failed:", "isinstance(self._charge, Reservation):"),
        tests="trust/test_failed_source.py",
    ),
    *of(
        "trust/private_data",
        ("        self._check_ready(key)\n", ""),
        ("entry.key == key and entry.committed", "False"),
        tests="trust/test_failed_source.py",
    ),
    *of("core/errors", ("in UNSETTLED:", "== UNTOUCHED:"), tests="trust/test_failed_source.py"),
    *of(
        "trust/sources/query",
        ("self._connection.connection = self._connect()", "pass"),
        ("check_postgres_types(asked, types, read_columns(schema, unit), self._connection.answered)", "pass"),
        tests="trust/test_failed_source.py trust/sources/test_query.py",
    ),
    *of(
        "trust/sources/query",
        ('MISREAD = ("money", "oid", "regproc")', 'MISREAD = ("oid", "regproc")'),
        ("opaque and not _is_text(kind, answered)", "False"),
        ("return bool(sent) and all(sent)", "return False"),
        ("return bool(sent) and all(sent)", "return True"),
        tests="trust/sources/test_query.py",
    ),
    *of(
        "trust/sources/relation",
        ("if (own := str(dict(_types(relation))[column])) in MISREAD:", 'if (own := "") in MISREAD:'),
        tests="trust/sources/test_query.py",
    ),
    *of(
        "trust/sources/columns/sql_column",
        ("if any(place != form - first for form, place in forms.items()):", "if False:"),
        ("TRY_CAST({column} AS BIGINT) - CAST({first} AS BIGINT)", "{column} - {first}"),
        ('text_of(form) or ""', 'f"{form:.15g}" if form.__class__ is float else form'),
    ),
    *of(
        "trust/sources/file",
        ("self._query(connection.cursor())", "self._query(connection)"),
        ("check_reachable(self._asked, self._look,", "(lambda *given: None)(self._asked, self._look,"),
        tests="trust/sources/test_file.py trust/test_failed_source.py",
    ),
    *of(
        "schema/value",
        ('whole.lstrip("0") or "0"', 'whole or "0"'),
        ('rest.rstrip("0")', "rest"),
        tests="trust/sources/test_agreement.py",
    ),
    *of(
        "trust/sources/columns/arrow_column",
        ('(r"^(-?)0+([0-9])", r"\\1\\2")', '(r"^(-?)x+([0-9])", r"\\1\\2")'),
        ('pa.compute.not_equal(short, "-0")', 'pa.compute.not_equal(short, "")'),
        tests="trust/sources/test_agreement.py",
    ),
    *of(
        "trust/sources/frame",
        ("else name_of(text) for text", "else text for text"),
        tests="trust/sources/test_agreement.py",
    ),
    *of(
        "trust/as_private",
        ('getattr(records, "ndim", 1) > 0 else None', "False else None"),
    ),
    *of(
        "statistics/hypotheses/chi_square",
        ("larger = max(_larger(", "larger = min(_larger("),
        (" + missed, 1.0)", ", 1.0)"),
        ("Simulation(_seed(table))", "Simulation()"),
        ("    if isinstance(spread.law, NormalError):\n", "    if True:\n"),
        ("drawn = simulation.normal(table.stddev, shape)", "drawn = simulation.normal(spread.stddev, shape)"),
    ),
    *of(
        "statistics/hypotheses/goodness_of_fit",
        ("least = found - noise - wide", "least = found - wide"),
        ("most = max(found, 0.0) + noise", "most = max(found, 0.0)"),
        tests="statistics/hypotheses/test_chi_square.py",
    ),
    *of(
        "trust/sources/relation",
        ("        with ENGINE_LOCK:\n            return super().units()", "        return super().units()"),
        tests="conformance/test_sources.py::test_threads_get_what_one_gets",
    ),
    *of("graphs/laplacian_sketch", ("high=max(float(high) - padding, 0.0)", "high=max(float(high), 0.0)")),
]
