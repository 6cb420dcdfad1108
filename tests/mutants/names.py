"""Mistakes in the names under which ledgers know what was asked."""

from __future__ import annotations

from tests.mutants.mutant import of

PIPELINE = "learners/selection/test_private_pipeline.py"

MUTANTS = [
    *of(
        "core/identity",
        ('return f"{OWN}:{value.__qualname__}"', 'return f"{OWN}:class"'),
        ('return f"{OWN}:{value.__qualname__}"', 'return f"{value.__module__}:{value.__qualname__}"'),
        ("if isinstance(value, FunctionType):\n        return f", "if False:\n        return f"),
        ("({', '.join(_parameters(value.__code__))})", ""),
        ('SUBROOM.sub(f"{OWN}.learners.", value.__module__)', "value.__module__"),
        ("if file else f", "if False else f"),
        ('self._all("cached", value.__wrapped__)', 'self._all("cached", value.__name__)'),
    ),
    *of(
        "trust/permit",
        ("return former if former in self._known else found", "return found"),
        ("return former if former in self._known else found", "return next(iter(self._known))"),
        tests=PIPELINE,
    ),
]
