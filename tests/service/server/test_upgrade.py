"""A site that is stopped and started again while people ask: nothing that was begun is left half-done."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.server.site import Site
from tests.service.server.made_site import made_site
from tests.service.server.test_site_attacks import SERVER, asked

ASKERS = 6


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
