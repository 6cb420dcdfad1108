"""What pycanon finds in tables; arguments: CSV files, whose last column is sensitive. Prints a list as JSON.

pycanon leaves out records whose quasi-identifiers are missing, so missing values are to be written as texts.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import pandas as pd
from pycanon import anonymity


def found(path: str) -> dict[str, Any]:
    table = pd.read_csv(path, keep_default_na=False)
    *quasi, sensitive = table.columns
    start = time.process_time()
    t = anonymity.t_closeness(table, quasi, [sensitive])
    seconds = time.process_time() - start
    figures = {
        "k": int(anonymity.k_anonymity(table, quasi)),
        "l": int(anonymity.l_diversity(table, quasi, [sensitive])),
        "entropy": int(anonymity.entropy_l_diversity(table, quasi, [sensitive])),
        "t": float(t),
    }
    return {"cpu": seconds, **figures}


if __name__ == "__main__":
    print(json.dumps([found(path) for path in sys.argv[1:]]))
