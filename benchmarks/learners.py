"""Learners beside the figures that they must reach: each family's rows, collected.

    python -m benchmarks.learners [family ...] [--seeds 10] [--jobs 1] [--only WORD]

A family is a file `learners_FAMILY.py` with a function `cells()`, whose scores are computed in `--jobs` processes, and
`rows()` of what must not share a machine, such as times. `--only` takes the cells whose claim has this word, and leaves
out the rows.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from typing import Any

import benchmarks
from benchmarks.cells import Cell, rows_of
from benchmarks.rows import report

PREFIX = "learners_"


def families() -> dict[str, Any]:
    """All families, found by walking."""
    names = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    found = sorted(name for name in names if name.startswith(PREFIX))
    return {name.removeprefix(PREFIX): importlib.import_module(f"benchmarks.{name}") for name in found}


def main() -> None:
    """The rows of the families that are asked for; of all, if none is named."""
    every = families()
    parser = argparse.ArgumentParser(prog="python -m benchmarks.learners")
    parser.add_argument("families", nargs="*", choices=[[], *every], metavar="family")
    parser.add_argument("--seeds", type=int, default=10, help="fits of each cell")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--only", help="a word of the claims that are wanted")
    asked = parser.parse_args()
    names = asked.families or list(every)
    cells: list[Cell] = [cell for name in names for cell in every[name].cells() if (asked.only or "") in cell.claim]
    rows = rows_of(cells, asked.seeds, asked.jobs)
    if asked.only is None:
        rows += [row for name in names for row in every[name].rows()]
    report("_".join(["learners", *asked.families]), rows)


if __name__ == "__main__":
    main()
