"""Mistakes in tables that are given away."""

from __future__ import annotations

from tests.mutants.mutant import of

STORED, ROLES = "trust/test_stored.py", "schema/test_roles.py"
WAIVED = "microdata/test_waived_table.py"

MUTANTS = [
    *of("ledger/book", ("if result_digest(data) != digest:", "if False:"), tests=STORED),
    *of("trust/permit", ("self._ledger.keep(text_of_artefact(made).encode())", "pass"), tests=STORED),
    *of("schema/roles", ("if self[name] != IDENTIFYING)", ")"), ("if not self.quasi_identifiers:", "if False:")),
    *of("schema/roles", ("get(name, OTHER)", "get(name, QUASI)"), tests=ROLES),
    *of("microdata/waived_table", ("if waiver is None or not waiver.strip():", "if False:"), tests=WAIVED),
    *of("mechanisms/microdata/changed_rows", ("values[permutation(bits, len(values))]", "values")),
]
