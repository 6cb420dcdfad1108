"""Attacks: what they find, beside what is known of their targets.

    python -m benchmarks.attacks [section ...]

Without sections, all of them. A section is a module `benchmarks.attacks_SECTION` with a function `rows`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("attacks_") for path in Path(__file__).parent.glob("attacks_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all; what is done is written after each."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.attacks_{name}").rows()
        report("attacks", found)


if __name__ == "__main__":
    main(sys.argv[1:])
