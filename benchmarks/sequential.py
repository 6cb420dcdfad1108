"""Releases over time: counters, series, filters, online statistics.

    python -m benchmarks.sequential [section ...]

Without sections, all of them. A section is a module `benchmarks.sequential_SECTION` with a function `rows`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("sequential_") for path in Path(__file__).parent.glob("sequential_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.sequential_{name}").rows()
    report("sequential", found)


if __name__ == "__main__":
    main(sys.argv[1:])
