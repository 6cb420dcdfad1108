"""Four thousand phones report, some of them lie, and two helpers add up what they cannot read.

Each phone splits its answer into two shares, each of which is random by itself, and proves that the answer is one of
those that were offered. The helpers check the proofs on their shares, add up, and each adds noise enough for both. Some
phones vote a thousand times, some send their report twice, and one helper works together with all phones but one.

Run: python examples/devices_and_two_helpers.py
"""

from __future__ import annotations

from typing import Any

import numpy as np

from discreet import Budget, Category, Neighbors, Schema
from discreet.core.events import LaplaceLoss
from discreet.core.neighbors import RECORD
from discreet.crypto.prio3.shares import Sharded
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.system_bits import system_bits
from discreet.questions.recipe import Recipe
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.share_aggregator import Reports, ShareAggregator, verified_together

ANSWERS = ("never", "monthly", "weekly", "daily")
PEOPLE = {"never": 2000, "monthly": 1200, "weekly": 600, "daily": 200}
SCHEMA = Schema({"answer": Category(ANSWERS)})
LIARS, TWICE = 50, 100

# What phones and helpers agree on: the question, the noise of each helper, and the fewest reports that are opened.
TASK = AggregationTask(
    "survey of this example",
    Recipe("contingency", {"columns": ("answer",), "bins": (0,)}),
    LaplaceLoss(2.0),
    SCHEMA,
    aggregators=2,
    least=1000,
)


def phones() -> Reports:
    """What honest phones send: their answer by its place in the list."""
    truths = np.repeat(np.arange(4.0), list(PEOPLE.values()))[:, None]
    return Reports.of(TASK, truths, system_bits())


def liars() -> Reports:
    """Reports that were changed so as to count for more."""
    made = Reports.of(TASK, np.full((LIARS, 1), 3.0), system_bits())
    shares = made.shares.inputs[0].copy()
    shares[:, 24] += 100  # the leader's share of "daily"
    return Reports(made.nonces, Sharded(made.shares.public, [shares, made.shares.inputs[1]]))


def again(reports: Reports) -> Reports:
    """The first reports once more, as over a poor line."""
    inputs = [one[:TWICE] for one in reports.shares.inputs]
    return Reports(reports.nonces[:TWICE], Sharded(reports.shares.public[:TWICE], inputs))


def main() -> dict[str, Any]:
    """Collect from everybody, open the sum, and see what one helper alone could have learnt."""
    accounts = [MemoryLedger(Budget(epsilon=1.0), Neighbors.REPLACE, RECORD) for _ in range(2)]
    key = system_bits().integer(256).to_bytes(32, "big")
    helpers = [ShareAggregator(number, TASK, key, ledger=account) for number, account in enumerate(accounts)]
    honest = phones()
    for sent in (honest, liars(), again(honest)):
        verified_together(helpers, sent)
    batch = helpers[0].batch
    print(f"{batch.accepted} reports are valid, {batch.failed} failed their proof, {batch.repeated} came twice")
    found = TASK.opened([one.share(batch.accepted) for one in helpers], batch.accepted)
    for answer, count in zip(ANSWERS, found, strict=True):
        print(f"{answer:>8}: {count:7.1f} (in truth {PEOPLE[answer]})")
    left = [account.balance().remaining for account in accounts]
    print(f"each helper has paid from its own account; left: epsilon {left[0]:.2f} and {left[1]:.2f}")
    return {"counts": found.tolist(), "accepted": batch.accepted, "failed": batch.failed, "repeated": batch.repeated}


if __name__ == "__main__":
    main()
