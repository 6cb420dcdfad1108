"""The page on attacks names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

from tests.conformance.walk import learners

ROOT = Path(__file__).parent.parent


def test_every_promise_on_the_page_has_its_test() -> None:
    rows = [line for line in (ROOT / "docs" / "attacks.md").read_text().splitlines() if line.startswith("| ")]
    rows = [row for row in rows if not row.startswith(("| attack |", "| learner |"))]
    assert len(rows) > 25
    for row in rows:
        named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", row.rsplit(" | ", 1)[1])
        assert named, row
        for path, test in named:
            assert f"def {test}(" in (ROOT / path).read_text() or not test, row


def test_every_learner_has_its_audit_on_the_page() -> None:
    rows = re.findall(r"^\| (`\w+`.*?) \|", (ROOT / "docs" / "attacks.md").read_text(), flags=re.MULTILINE)
    audited = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert {kind.__name__ for kind in learners()} <= audited
