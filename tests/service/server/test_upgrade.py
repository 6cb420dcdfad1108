"""A site that is stopped and started again while people ask: nothing that was begun is left half-done."""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.client.site_line import _OwnConnection
from discreet.service.server.site import Site
from tests.service.server.made_site import made_site

ASKERS = 6
SERVER = """
import sys
from discreet.service.server.serving_site import serve
from discreet.service.server.site import Site
with Site.open(sys.argv[1]) as site:
    print(site.keys.drawn("ann"), flush=True)
    serve(site, lambda address: print(address, flush=True))
"""


def asked(address: str, key: str, name: str) -> tuple[str, str | None]:
    """The answer to a question, as far as the server lives to give it."""
    host, port = address.removeprefix("http://").split(":")
    line = _OwnConnection(host, int(port), None, 20.0)
    body = json.dumps({"question": "count", "epsilon": 0.01, "key": name}).encode()
    try:
        status, data = line.exchanged("POST", "/api/data/patients/ask", body, {"Authorization": f"Bearer {key}"})
        return name, json.loads(data)["text"] if status == 200 else None
    except Exception:
        return name, None
    finally:
        line.close()


def test_a_site_that_is_upgraded_under_load_finishes_what_it_began(tmp_path: Path) -> None:
    path = made_site(tmp_path)
    got: dict[str, str] = {}
    stopping = threading.Event()
    process = subprocess.Popen([sys.executable, "-c", SERVER, str(path)], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    key, address = process.stdout.readline().strip(), process.stdout.readline().strip()

    def analyst(number: int) -> None:
        for question in range(200):
            name, text = asked(address, key, f"{number} {question}")
            if text is None:
                assert stopping.is_set()
                return
            got[name] = text

    threads = [threading.Thread(target=analyst, args=(number,)) for number in range(ASKERS)]
    for thread in threads:
        thread.start()
    threads[0].join(2.0)
    stopping.set()
    process.send_signal(signal.SIGTERM)
    for thread in threads:
        thread.join()
    assert process.wait(20) in (0, -signal.SIGTERM)
    process.stdout.close()
    assert len(got) >= ASKERS
    with SqliteLedger.open(tmp_path / "patients.ledger") as ledger:
        assert not ledger.dangling()
        assert {one.key for one in ledger.entries()} == {f"ann/{name}" for name in got}
    with Site.open(path) as site:  # the next version
        ann = site.file.users["ann"]
        assert all(site.ask(ann, "patients", "count", epsilon=0.01, key=name).text == got[name] for name in got)
        assert site.counted(ann, "state") == {"done": len(got)}
    with sqlite3.connect(tmp_path / "site.state") as state:
        assert state.execute("select count(*) from asked where state != 'done'").fetchone() == (0,)
