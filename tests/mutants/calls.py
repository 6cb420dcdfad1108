"""Mistakes where work is done once: what was remembered must be what would be found again."""

from __future__ import annotations

from tests.mutants.mutant import of

MUTANTS = [
    *of(
        "ledger/book_ledger",
        ("after[account] = standing.after(self.event)", "after[account] = standing"),
        tests="ledger/test_memory_ledger.py",
    ),
    *of(
        "accounting/filters/union",
        ("if amount is not None and amount.within(member.cap):", "if amount is not None:"),
        tests="ledger/test_memory_ledger.py",
    ),
    *of(
        "core/checks",
        ("value.__class__ is int and -EXACT <= value <= EXACT", "value.__class__ is int"),
        tests="core/test_parameters.py",
    ),
    *of(
        "questions/kinds",
        ("if each is _text and STRINGS.issuperset(map(type, value)):", "if each is _text:"),
        tests="questions/test_recipe.py",
    ),
    *of(
        "schema/schema",
        ("and self._readable.issuperset(found)):", "and True):"),
        ("isinstance(kind, Number) and kind._computable}", "isinstance(kind, Number)}"),
        tests="schema/test_schema.py",
    ),
    *of(
        "releases/joint_plan",
        ("return tuple([made[id(part)] for part in self.parts])", "return tuple(made.values())"),
        tests="releases/test_joint_plan.py",
    ),
    *of(
        "questions/recipe",
        ('(name, *given, " ".join(named), *named.values())', "(name, *given, *named.values())"),
        tests="questions/test_recipe.py",
    ),
    *of(
        "accounting/composition",
        ("far * following[places]", "0 * following[places]"),
        tests="accounting/test_composition.py",
    ),
]
