"""Four thousand phones report, some of them lie, and two helpers add up what they cannot read.

Each phone splits its answer into two shares, each of which is random by itself, and proves that the answer is one of
those that were offered. A leader and a helper, which listen on this machine, check the proofs on their shares, add up,
and each adds noise enough for both. Some phones vote a hundred times, and some send their report twice.

Run: python examples/devices_and_two_helpers.py
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from discreet import SqliteLedger, histogram
from discreet.crypto.prio3.shares import Sharded
from discreet.noise.system_bits import system_bits
from discreet.query.task_file import read_asker, read_task
from discreet.trust.aggregation.aggregated import Aggregated
from discreet.trust.aggregation.aggregation_task import AggregationTask
from discreet.trust.aggregation.prio_reporter import PrioReporter
from discreet.trust.aggregation.share_aggregator import Reports

PEOPLE = {"never": 2000, "monthly": 1200, "weekly": 600, "daily": 200}
SCHEMA = f"""neighbors = "replace"
[columns.answer]
kind = "category"
values = {json.dumps(list(PEOPLE))}
"""
LIARS, TWICE = 50, 100


@contextlib.contextmanager
def leader_and_helper(folder: Path) -> Iterator[dict[str, str]]:
    """Both in a process of their own, as one command starts them; it says where they are and how to ask."""
    (folder / "schema.toml").write_text(SCHEMA, encoding="utf-8")
    asked = ["--schema", str(folder / "schema.toml"), "--ask", "histogram of answer", "--epsilon", "1"]
    command = [sys.executable, "-m", "discreet", "aggregate", "--pair", *asked, "--least", "1000"]
    with subprocess.Popen([*command, "--folder", str(folder), "--json"], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        try:
            yield json.loads(process.stdout.readline())
        finally:
            process.terminate()


def phones(device: PrioReporter) -> None:
    """Honest phones report their answers; some do so twice, as over a poor line."""
    rows = device.rows({"answer": np.repeat(list(PEOPLE), list(PEOPLE.values()))})
    sent = device.sealed(Reports.of(device.published.task, rows, system_bits()))
    for start in range(0, len(sent), 1000):
        device.send(sent[start : start + 1000])
    device.send(sent[:TWICE])


def lying(task: AggregationTask) -> Reports:
    """Reports that were changed so as to count a hundred times."""
    made = Reports.of(task, np.full((LIARS, 1), 3.0), system_bits())
    shares = made.shares.inputs[0].copy()
    shares[:, 24] += 100  # the leader's share of "daily"
    return Reports(made.nonces, Sharded(made.shares.public, [shares, made.shares.inputs[1]]))


def main() -> dict[str, Any]:
    """Collect from everybody, open the sum, and look at the accounts of both."""
    with tempfile.TemporaryDirectory() as home:
        with leader_and_helper(Path(home)) as both:
            print(f"the leader listens at {both['leader']}, the helper at {both['helper']}")
            task = read_task(both["task"])
            device = PrioReporter(task)
            phones(device)
            device.send(device.sealed(lying(task.task)))

            # Whoever has the asker's key opens the sum, once.
            trust = Aggregated.at(task, read_asker(both["asker"], task))
            found = histogram(trust, "answer", epsilon=1.0)
            batch = trust.batch
        left = [remaining(Path(home) / f"{name}.ledger") for name in ("leader", "helper")]
    print(f"{batch.accepted} reports are valid, {batch.failed} failed their proof, {batch.repeated} came twice")
    for (answer, people), count in zip(PEOPLE.items(), found.counts, strict=True):
        print(f"{answer:>8}: {count:7.1f} (in truth {people})")
    print(f"each has paid from its own account; left: epsilon {left[0]:.2f} and {left[1]:.2f}")
    numbers = {"accepted": batch.accepted, "failed": batch.failed, "repeated": batch.repeated}
    return {"counts": found.counts.tolist(), "left": left, **numbers}


def remaining(path: Path) -> float:
    """What an aggregator may still spend."""
    with SqliteLedger.open(path) as ledger:
        return ledger.balance().remaining


if __name__ == "__main__":
    main()
