"""Graphs: queries, cuts, publishing.

    python -m benchmarks.graphs [section ...]

Without sections, all of them. A section is a module `benchmarks.graphs_SECTION` with a function `rows`.
`facebook_edges.txt.gz`, a list of the edges of 4,039 nodes, lies in the folder DISCREET_DATA.
"""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

from benchmarks.rows import Row, report

SECTIONS = sorted(path.stem.removeprefix("graphs_") for path in Path(__file__).parent.glob("graphs_*.py"))


def main(names: list[str]) -> None:
    """Run these sections, or all."""
    found: list[Row] = []
    for name in names or SECTIONS:
        found += importlib.import_module(f"benchmarks.graphs_{name}").rows()
    report("graphs", found)


if __name__ == "__main__":
    main(sys.argv[1:])
