"""Schemathesis against a site: no answer outside the description, and none that says the program made a mistake.

python -m benchmarks.fuzz_site SCHEMATHESIS REQUESTS_A_WAY
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from discreet.core.budget import Budget
from discreet.service.server.new_site import FILE, new_site
from discreet.service.server.serving_site import served
from discreet.service.server.site import Site

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
LIMITS = (("requests = 600", "requests = 100000000"), ("cheap = 0.25", "cheap = 0.0"), ("above = 1.0", "above = 1e6"))


def main(program: str, requests: str) -> int:
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
            for name in site.file.users:
                header = f"Authorization: Bearer {site.keys.drawn(name)}"
                options = ["--checks", CHECKS, "--phases", "coverage,fuzzing", "-n", requests, "--seed", "1", "-w", "1"]
                command = [program, "run", f"{there.address}/api/openapi.json", "-H", header, *options]
                found += subprocess.run([*command, "--continue-on-failure"], check=False).returncode != 0
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:3]))
