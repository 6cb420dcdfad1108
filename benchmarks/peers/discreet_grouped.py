"""Count, sum and mean by group with bounded users, by this library: opening the file, bounding users and all.

Prints seconds and the peak of memory as JSON; arguments: a file, and a small one to warm up with.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

from benchmarks.peers.rounds import timed
from discreet.core.budget import Budget
from discreet.core.neighbors import Unit
from discreet.releases.table import Table
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.grouped import grouped
from discreet.trust.private_data import PrivateData

SCHEMA = Schema({"group": Category(tuple(map(str, range(100)))), "value": Number(0, 60)})
USER = Unit("user", column="user", rows=20)


def release(path: str) -> Table:
    data = PrivateData.of(path, SCHEMA, Budget(1.0, 1e-8), unit=USER)
    return grouped(data, "value", by="group", epsilon=1.0, delta=1e-8)


def main(path: str, small: str) -> None:
    release(small)
    seconds = timed(lambda: release(path))
    (peak,) = re.findall(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    print(json.dumps({**seconds, "peak": int(peak) / 1024}))


if __name__ == "__main__":
    main(*sys.argv[1:])
