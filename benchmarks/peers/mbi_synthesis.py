"""MST on mbi's graphical models: counts of columns, a spanning tree by the exponential mechanism, counts of its pairs.

    python mbi_synthesis.py METHOD rows.npz out.npz EPSILON DELTA SEED

The wheel of mbi has no mechanisms: this is the algorithm of McKenna, Miklau and Sheldon 2021, with a third of the
information for each part, and mbi's own estimation (1,000 and 2,500 steps) and counting out. Prints processor seconds.
"""

from __future__ import annotations

import sys
import time
import warnings
from itertools import combinations

import numpy as np

warnings.filterwarnings("ignore")

import jax  # noqa: E402

jax.config.update("jax_enable_x64", True)

from mbi import Dataset, Domain, LinearMeasurement, estimation  # noqa: E402


def information(epsilon: float, delta: float) -> float:
    """The concentrated privacy that is worth a price."""
    orders, low, high = 1 + np.logspace(-2, 5, 20000), 0.0, epsilon + 1.0
    for _ in range(60):
        middle = (low + high) / 2
        logs = (orders - 1) * (orders * middle - epsilon) + orders * np.log1p(-1 / orders) - np.log(orders - 1)
        low, high = (middle, high) if logs.min() <= np.log(delta) else (low, middle)
    return low


def main(source: str, out: str, epsilon: float, delta: float, seed: int) -> None:
    """Make a table."""
    kept = np.load(source)
    rows, sizes, rng = kept["rows"], kept["sizes"].tolist(), np.random.default_rng(seed)
    names = [f"c{place}" for place in range(len(sizes))]
    start, price = time.process_time(), information(epsilon, delta) / 3
    domain = Domain(tuple(names), tuple(sizes))
    data = Dataset({name: rows[:, place] for place, name in enumerate(names)}, domain)

    def measured(cliques: list[tuple[str, ...]]) -> list[LinearMeasurement]:
        stddev = np.sqrt(len(cliques) / (2 * price))
        exact = [np.asarray(data.project(clique).datavector()) for clique in cliques]
        noisy = [own + rng.normal(0, stddev, own.shape) for own in exact]
        return [LinearMeasurement(own, clique, stddev=stddev) for own, clique in zip(noisy, cliques, strict=True)]

    log = measured([(name,) for name in names])
    model = estimation.MirrorDescent().estimate(domain, log, iters=1000)
    pairs = list(combinations(names, 2))
    apart = {
        pair: float(np.abs(np.asarray(data.project(pair).datavector() - model.project(pair).datavector())).sum())
        for pair in pairs
    }
    each, parts = np.sqrt(8 * price / (len(names) - 1)), {name: name for name in names}
    edges: list[tuple[str, ...]] = []
    while len(edges) < len(names) - 1:
        free = [pair for pair in pairs if parts[pair[0]] != parts[pair[1]]]
        one, other = free[int(np.argmax([apart[pair] * each / 2 + rng.gumbel() for pair in free]))]
        edges.append((one, other))
        kept_part, gone = parts[one], parts[other]
        parts = {name: kept_part if part == gone else part for name, part in parts.items()}
    model = estimation.MirrorDescent().estimate(domain, log + measured(edges), iters=2500)
    made = model.synthetic_data().to_dict()
    print(time.process_time() - start)
    np.savez(out, rows=np.column_stack([made[name] for name in names]).astype(int))


if __name__ == "__main__":
    _, _, source, out, epsilon, delta, seed = sys.argv
    main(source, out, float(epsilon), float(delta), int(seed))
