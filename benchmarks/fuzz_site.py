"""Schemathesis against a site: no answer outside the description, and none that says the program made a mistake.

python -m benchmarks.fuzz_site SCHEMATHESIS REQUESTS_A_WAY [SEED]

The description names no data set and no question of anybody, so that few requests come further than "there is none for
you". Half of them are therefore drawn from a copy of it that allows some names, questions and prices alone.
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
PHASES, PATIENT = "coverage,fuzzing", ("--request-timeout", "120")
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
    "question": [*QUESTIONS, "mean of nothing", {"words": 3}],
    "questions": [[one] for one in QUESTIONS[:4]] + [QUESTIONS[:2]],
    "epsilon": [1e-3, 1e-2, 0.5, 60.0, 1e7, -1],
    "delta": [0.0, 1e-9],
    "key": ["monday", "tuesday", "wednesday", "\u200b"],
    "n": [100, 5000, 10**6],
    "for_error": [1.0],
    "most": [1, 1000],
    "event": [json.loads(written(event)) for event in (PureLoss(1e-3), Repeated(GaussianLoss(30.0), 10))],
}


def questions_of(site: Site) -> list[str]:
    """The identifiers of questions in several states: answered, and waiting for a curator."""
    guest = site.file.users["guest"]
    prices = {"count": 0.5, "mean of age": 60.0, "median of age": 70.0, "mean of stay_days": 80.0}
    return [site.ask(guest, "patients", text, epsilon=price, key=text).id for text, price in prices.items()]


def drawn_from(ids: list[str]) -> dict[str, Any]:
    """The description, with what is there in place of all that it allows."""
    found = description()
    known = {"name": ["patients", "nothing"], "id": [*ids, "0" * 32]}
    for way in (one for ways in found["paths"].values() for one in ways.values()):
        for named in way.get("parameters", []):
            named["schema"] = {"enum": known[named["name"]]}
        fields = way.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema", {})
        for name in {*fields.get("properties", {})} & {*KNOWN}:
            fields["properties"][name] = {"enum": KNOWN[name]}
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
            known = Path(folder) / "known.json"
            known.write_text(json.dumps(drawn_from(questions_of(site))))
            options = ["--checks", CHECKS, "--phases", PHASES, "-n", requests, "--seed", seed, "-w", "1"]
            for name in site.file.users:
                for asked in (f"{there.address}/api/openapi.json", str(known)):
                    header = f"Authorization: Bearer {site.keys.drawn(name)}"
                    command = [program, "run", asked, "--url", there.address, "-H", header, *options, *PATIENT]
                    found += subprocess.run([*command, "--continue-on-failure"], check=False).returncode != 0
            print(reached(there.address, site.keys.drawn("curator")), flush=True)
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:4]))
