"""Three thousand phones answer a survey, and the collector never sees an answer.

The collector is an HTTP server on this machine. Each phone asks it for the protocol, randomises its owner's answer and
sends one message; some send theirs twice, since their line is poor, and are counted once. The phones run the client in
one file that other programs can copy (`discreet/local/wire_client.py`), which needs nothing but Python.

Run: python examples/device_survey.py
"""

from __future__ import annotations

import base64
import json
import secrets
import tempfile
import threading
import urllib.request
from pathlib import Path
from typing import Any

from discreet.local import frequency_oracle
from discreet.local.report_store import ReportStore
from discreet.local.wire_client import message
from discreet.service.collector.collector import Collector

ANSWERS = ("never", "monthly", "weekly", "daily")
PEOPLE = {"never": 1500, "monthly": 900, "weekly": 450, "daily": 150}
EPSILON = 1.5


def phones(url: str) -> None:
    """Every phone sends its report, in batches here, to be quick; every tenth batch arrives twice."""
    with urllib.request.urlopen(f"{url}/protocol") as answer:
        protocol = json.load(answer)
    truths = [answer for answer, people in PEOPLE.items() for _ in range(people)]
    reports = [
        {"id": secrets.token_hex(16), "message": base64.b64encode(message(protocol, truth)).decode()}
        for truth in truths
    ]
    for start in range(0, len(reports), 100):
        body = json.dumps({"reports": reports[start : start + 100]}).encode()
        for _ in range(2 if start % 1000 == 0 else 1):
            urllib.request.urlopen(urllib.request.Request(f"{url}/reports", body)).close()


def main() -> dict[str, Any]:
    """Collect, and estimate."""
    choice = frequency_oracle(ANSWERS, EPSILON)
    print(choice.reason)
    with tempfile.TemporaryDirectory() as folder:
        store = ReportStore(Path(folder) / "survey.reports", choice.oracle)
        with Collector(store) as collector:
            thread = threading.Thread(target=collector.serve_forever, args=(0.05,))
            thread.start()
            phones(f"http://127.0.0.1:{collector.server_address[1]}")
            collector.shutdown()
            thread.join()
        estimate = store.aggregator().estimate()
        store.close()
    print(estimate)
    print(estimate.consistent())
    print(estimate.receipt)
    shuffled = estimate.shuffled(delta=1e-6)
    print(f"if a shuffler had removed names and order: {shuffled.receipt.cost}")
    return {
        "n": estimate.n,
        "shares": estimate.shares.tolist(),
        "errors": estimate.errors.tolist(),
        "shuffled": shuffled.receipt.epsilon,
    }


if __name__ == "__main__":
    main()
