"""RAPPOR: the time of a million clients, the paper's setting, and the smaller cells of `rappor_grid`.

    python -m benchmarks.local_rappor

Clients of the first part have secrets, and derive permanent responses from them. In the other parts counts are drawn
from their law at once: bits are independent given the strings, so that sums of coins are binomial.
"""

from __future__ import annotations

import resource
import time

import numpy as np

from benchmarks.rappor_grid import counted, grid, shares
from benchmarks.rows import Row, at_least, at_most, report
from discreet.local.aggregator import Aggregator
from discreet.local.rappor.decoded_strings import Correction, DecodedStrings, decoded
from discreet.local.rappor.rappor import Rappor
from discreet.local.rappor.rappor_client import BLOCK, client_reports

PAPER = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
CLIENTS, SEEDS = 10**6, 10


def encode_and_decode(clients: int) -> DecodedStrings:
    """All clients of the paper's setting, in blocks that are made and forgotten."""
    strings = [f"s{number}" for number in range(1, 201)]
    places = np.random.default_rng(0).choice(100, clients, p=shares("exp", 100)).astype(np.uint8)
    collector = Aggregator(PAPER)
    for start in range(0, clients, BLOCK):
        values = [strings[place] for place in places[start : start + BLOCK].tolist()]
        secrets = [b"secret of client %d" % number for number in range(start, start + len(values))]
        for block in client_reports(PAPER, values, secrets):
            collector.add(block)
    found: DecodedStrings = collector.estimate(candidates=strings)
    return found


def clients() -> list[Row]:
    """Time and memory of a million clients, in one process."""
    encode_and_decode(10 * BLOCK)
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
    found = encode_and_decode(CLIENTS)
    seconds = time.process_time() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    return [
        at_most("a million clients encoded and decoded, processor seconds", seconds, 20),
        at_most("memory beyond that of 160,000 clients, MB", grown, 50),
        at_least("strings found among theirs", len(found.found), 40),
    ]


def paper() -> list[Row]:
    """100 strings with exponential shares, and 100 candidates that nobody has."""
    strings, found = [f"s{number}" for number in range(1, 201)], []
    for correction in ("benjamini-hochberg", "bonferroni"):
        kind: Correction = correction
        for seed in range(SEEDS):
            rng = np.random.default_rng(seed)
            tally = counted(PAPER, strings[:100], np.floor(CLIENTS * shares("exp", 100)).astype(np.int64), rng)
            places = [strings.index(one) for one in decoded(PAPER, tally, candidates=strings, correction=kind).found]
            found.append([sum(place < 100 for place in places), sum(place >= 100 for place in places)])
    true, false = np.array(found).reshape(2, SEEDS, 2).mean(axis=1).T
    return [
        at_least("the paper's setting: true strings, Benjamini-Hochberg", float(true[0]), 40),
        at_most("the paper's setting: false ones among those found", float(false[0] / (true[0] + false[0])), 0.05),
        at_least("the paper's setting: true strings, Bonferroni (31.7 noted)", float(true[1]), 31.7),
        at_most("the paper's setting: false ones, Bonferroni", float(false[1]), 0.1),
    ]


def rows() -> list[Row]:
    """All figures."""
    return [*clients(), *paper(), *grid(longest=3000)]


if __name__ == "__main__":
    report("local_rappor", rows())
