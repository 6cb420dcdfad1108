"""What a mutant is: a file, the text, what it becomes, and the tests to ask.

A mutant whose text is not there exactly once is stale: the code has moved on, and so must its table.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A mistake.

    Parameters
    ----------
    file : str
        Below `src/discreet`.
    old, new : str
        The text, and what it becomes.
    tests : tuple of str
        Below `tests`; they are run in this order until one fails.
    excuse : str
        Why nothing can notice, where nothing can.
    """

    file: str
    old: str
    new: str
    tests: tuple[str, ...]
    excuse: str = ""


AUDIT = "conformance/test_mechanisms.py::test_no_audit_refutes_the_claim_and_each_does_with_two_thirds_of_the_noise"
PARTS = "conformance/test_mechanisms.py::test_no_audit_refutes_a_part_and_each_does_with_two_thirds_of_the_noise"

REPORTS = "conformance/test_randomizers.py"
TRAINED = "conformance/test_training.py"


def of(file: str, *changes: tuple[str, ...], audits: tuple[str, ...] = (), tests: str = "") -> list[Mutant]:
    """The mutants of one file: asked first is its own test, then the audits of these mechanisms."""
    room, _, name = file.rpartition("/")
    own = tests or f"{room}/test_{name}.py"
    asked = (*own.split(), *(f"{AUDIT}[{kind}]" for kind in audits))
    return [Mutant(f"{file}.py", old, new, asked, *excuse) for old, new, *excuse in changes]
