"""Learners beside the figures that they must reach: each family's rows, collected.

    python -m benchmarks.learners [family ...]

A family is a file `learners_FAMILY.py` with a function `rows()`. All of them use the data sets of `learning_data`, a
public box, and ten seeds of noise.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.rows import Row, report

PREFIX = "learners_"


def families() -> list[str]:
    """All families, found by walking."""
    names = (module.name for module in pkgutil.iter_modules(benchmarks.__path__))
    return sorted(name.removeprefix(PREFIX) for name in names if name.startswith(PREFIX))


def main(asked: list[str]) -> None:
    """The rows of these families; of all, if none is named."""
    rows: list[Row] = []
    for family in asked or families():
        print(f"... {family}", flush=True)
        rows += importlib.import_module(f"benchmarks.{PREFIX}{family}").rows()
    report("learners", rows)


if __name__ == "__main__":
    main(sys.argv[1:])
