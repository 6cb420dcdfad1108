"""The platform: ledgers that many charge at once.

    python -m benchmarks.platform [section ...]

Without sections, all of them. A section is a module `benchmarks.platform_SECTION` with a function `rows`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("platform_") for path in Path(__file__).parent.glob("platform_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.platform_{name}").rows()
    report("platform", found)


if __name__ == "__main__":
    main(sys.argv[1:])
