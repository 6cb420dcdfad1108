"""Tables given away: synthetic, anonymous and perturbed ones, and rules that are hidden.

    python -m benchmarks.release [section ...]

Without sections, all of them. A section is a module `benchmarks.release_SECTION` with a function `rows`.
`adult.csv.gz` lies in the folder DISCREET_DATA. Peers run in environments of their own, whose interpreters
DISCREET_ANONYPY, DISCREET_PYCANON, DISCREET_MBI and DISCREET_SNSYNTH may name.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("release_") for path in Path(__file__).parent.glob("release_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.release_{name}").rows()
    report("release", found)


if __name__ == "__main__":
    main(sys.argv[1:])
