"""Numbers that are computed with while they are encrypted: what it costs.

    python -m benchmarks.encrypted [section ...]

Without sections, all of them. A section is a module `benchmarks.encrypted_SECTION` with a function `rows`.
DISCREET_PHE= names a Python that has phe and gmpy2, where it is not this one.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("encrypted_") for path in Path(__file__).parent.glob("encrypted_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.encrypted_{name}").rows()
    report("encrypted", found)


if __name__ == "__main__":
    main(sys.argv[1:])
