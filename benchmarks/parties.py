"""Many parties, some of whom lie: what the schemes cost.

    python -m benchmarks.parties [section ...]

Without sections, all of them. A section is a module `benchmarks.parties_SECTION` with a function `rows`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("parties_") for path in Path(__file__).parent.glob("parties_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.parties_{name}").rows()
    report("parties", found)


if __name__ == "__main__":
    main(sys.argv[1:])
