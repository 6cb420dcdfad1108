"""Schemathesis against a site: no answer outside the description, and none that says the program made a mistake.

python -m benchmarks.fuzz_site SCHEMATHESIS REQUESTS_A_WAY [SEED]

The description names no data set and no question of anybody. So that requests come further than "there is none for
you", they are drawn from a copy of it in which some that are there stand beside what it allows.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path
from typing import Any

from discreet.core.budget import Budget
from discreet.core.events import GaussianLoss, PureLoss, Repeated, written
from discreet.service.server.api_description import description
from discreet.service.server.new_site import FILE, new_site
from discreet.service.server.serving_site import served
from discreet.service.server.site import Site

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
PHASES = "coverage,fuzzing"
LIMITS = (("requests = 600", "requests = 100000000"), ("cheap = 0.25", "cheap = 0.0"), ("above = 1.0", "above = 50.0"))
QUESTIONS = [
    "count",
    "mean of age by sex",
    "quantile of age q=0.9",
    "SELECT sex, avg(age) AS age FROM patients WHERE stay_days > 3 GROUP BY sex",
    {"statistic": "histogram", "options": {"column": "age", "bins": 8}},
    {"learner": "KMeans", "parameters": {"n_clusters": 2, "columns": ["age"]}},
]
KNOWN: dict[str, list[Any]] = {
    "epsilon": [1e-3, 1e-2, 0.5, 60.0, 1e7, -1],
    "delta": [0.0, 1e-9],
    "key": ["monday", "tuesday", "wednesday", "\u200b"],
    "n": [100, 5000, 10**6],
    "for_error": [1.0],
    "most": [1, 1000],
}
EVENTS = [json.loads(written(event)) for event in (PureLoss(1e-3), Repeated(GaussianLoss(30.0), 10))]


def questions_of(site: Site) -> list[str]:
    """The identifiers of questions in several states: answered, and waiting for a curator."""
    guest = site.file.users["guest"]
    prices = {"count": 0.5, "mean of age": 60.0, "median of age": 70.0, "mean of stay_days": 80.0}
    return [site.ask(guest, "patients", text, epsilon=price, key=text).id for text, price in prices.items()]


def drawn_from(ids: list[str]) -> dict[str, Any]:
    """The description with names, questions and prices that are there beside what it allows."""
    found = description()
    known = {"name": ["patients"], "id": ids}
    for way in (one for ways in found["paths"].values() for one in ways.values()):
        for named in way.get("parameters", []):
            named["schema"] = {"anyOf": [{"enum": known[named["name"]]}, named["schema"]]}
        fields = way.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        kinds = {"question": QUESTIONS, "event": EVENTS}
        for name, one in fields.get("properties", {}).items():
            if name in KNOWN:
                fields["properties"][name] = {"enum": KNOWN[name]}
            elif name in kinds:
                fields["properties"][name] = {"anyOf": [{"enum": kinds[name]}, one]}
            elif name == "questions":
                fields["properties"][name] = one | {"items": {"enum": QUESTIONS}, "maxItems": 2}
    return found


def reached(address: str, key: str) -> str:
    """How often each way was answered, and how."""
    asked = urllib.request.Request(f"{address}/api/metrics", headers={"Authorization": f"Bearer {key}"})
    with urllib.request.urlopen(asked) as answer:
        return "".join(line.decode() for line in answer if line.startswith(b"discreet_answers_total"))


def main(program: str, requests: str, seed: str = "1") -> int:
    """Run it as an analyst and as a curator; the number of runs that found something."""
    found = 0
    with tempfile.TemporaryDirectory() as folder:
        new_site(Path(folder), Budget(1e6, 1e-5), demo=True)
        path = Path(folder) / FILE
        text = path.read_text()
        for before, after in LIMITS:
            text = text.replace(before, after)
        path.write_text(text)
        with Site.open(path) as site, served(site) as there:
            asked = Path(folder) / "asked.json"
            asked.write_text(json.dumps(drawn_from(questions_of(site))))
            for name in site.file.users:
                header = f"Authorization: Bearer {site.keys.drawn(name)}"
                options = [
                    "--checks",
                    CHECKS,
                    "--phases",
                    "coverage,fuzzing",
                    "-n",
                    requests,
                    "--seed",
                    seed,
                    "-w",
                    "1",
                ]
                command = [program, "run", str(asked), "--url", there.address, "-H", header, *options]
                found += subprocess.run([*command, "--continue-on-failure"], check=False).returncode != 0
            print(reached(there.address, site.keys.drawn("curator")), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
