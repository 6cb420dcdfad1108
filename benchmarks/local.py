"""Privacy with no one to trust, beside the peers.

    python -m benchmarks.local [section ...]

Without sections, all of them. A section is a module `benchmarks.local_SECTION` with a function `rows`.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("local_") for path in Path(__file__).parent.glob("local_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.local_{name}").rows()
    report("local", found)


if __name__ == "__main__":
    main(sys.argv[1:])
