"""A site that is killed again and again while people ask it; everybody must get what they paid for, once."""

from __future__ import annotations

import json
import os
import random
import signal
import sys
import threading
import time
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import Any

from discreet.core.budget import Budget
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.server.serving_site import serve
from discreet.service.server.site import Site
from tests.service.server.made_site import TEXT, made_site

QUESTIONS = ("count", "mean of age", "median of stay_days")
CLIENTS, EPSILON, ROOM = 16, 0.01, 3000  # so many answers can be paid for in one part of a soak
PART, MOST_ANSWERS = 20, 120  # kills of one site, and answers before each
ALONE = TEXT.replace(TEXT[TEXT.index("[data.staff]") : TEXT.index("[users.ann]")], "").replace('"staff"', '"patients"')


@dataclass(frozen=True)
class Found:
    """What a soak found: kills, answers that were told, those that were told again, charges, those without an answer,
    and of these the ones that were answered when a curator had them asked again; then what must not be.
    """

    kills: int = 0
    told: int = 0
    repeated: int = 0
    charges: int = 0
    dangling: int = 0
    mended: int = 0
    lost: int = 0
    twice: int = 0
    over: int = 0

    def __add__(self, other: Found) -> Found:
        return Found(*(getattr(self, name) + getattr(other, name) for name in vars(self)))


@dataclass
class Client:
    """Somebody who asks one question after another, and the same one again until there is a word about it."""

    name: str
    key: str
    number: int = 0
    told: dict[str, tuple[str, str]] = field(default_factory=dict)
    strange: list[str] = field(default_factory=list)
    repeated: int = 0
    twice: int = 0

    def question(self, name: str) -> str:
        """What is asked under a key."""
        return QUESTIONS[int(name.rpartition("-")[2]) % len(QUESTIONS)]

    def ask(self, address: str, heard: threading.Semaphore, ended: threading.Event) -> None:
        """Ask until the server is gone; what was under way then is asked of the next one."""
        host, port = address.removeprefix("http://").split(":")
        draw = random.Random(f"{self.name} {address} {self.number}")
        while not ended.is_set():
            line = HTTPConnection(host, int(port), timeout=20)
            try:
                while not ended.is_set():
                    old = draw.choice([*self.told]) if self.told and draw.random() < 0.2 else None
                    name = old or f"{self.name}-{self.number}"
                    self._note(name, *self._sent(line, name))
                    heard.release()
            except (OSError, HTTPException):
                time.sleep(0.02)  # the server was killed, or is too busy
            finally:
                line.close()

    def _sent(self, line: HTTPConnection, name: str) -> tuple[int, Any]:
        body = json.dumps({"question": self.question(name), "epsilon": EPSILON, "key": name})
        line.request("POST", "/api/data/patients/ask", body, {"Authorization": f"Bearer {self.key}"})
        answer = line.getresponse()
        return answer.status, json.loads(answer.read())

    def _note(self, name: str, status: int, said: Any) -> None:
        if status == 200:
            one = said["text"], said["receipt"]["head"]
            self.repeated += name in self.told
            self.twice += self.told.setdefault(name, one) != one
        elif status not in (402, 409, 503) or (name in self.told and status != 503):
            self.strange.append(f"{name}: {status} {said}")
        if status in (402, 503):
            time.sleep(0.02)  # nothing is left, or it is asked again
        if status != 503 and name == f"{self.name}-{self.number}":
            self.number += 1


def soak(folder: Path, kills: int, seed: int, room: int = ROOM) -> Found:
    """Kill a site so often, at random moments of its start and its work; then hold its ledger against what was told."""
    path, draw = made_site(folder, Budget((room + 0.5) * EPSILON), ALONE), random.Random(seed)
    with Site.open(path) as site:
        key = site.keys.drawn("ann")
    clients = [Client(f"c{number}", key) for number in range(CLIENTS)]
    for _ in range(kills):
        asked_until_killed(path, clients, draw)
    return checked(path, clients, room) + Found(kills)


def asked_until_killed(path: Path, clients: list[Client], draw: random.Random) -> None:
    """Serve it, and kill it a little after one of its first answers; once in ten times at any moment of its start."""
    ours, theirs = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            served(path, theirs)
        finally:
            os._exit(1)
    os.close(theirs)
    begins = draw.random() < 0.1 and threading.Timer(draw.uniform(0.0, 1.0), os.kill, (process, signal.SIGKILL))
    if begins:
        begins.start()
    with open(ours) as line:
        address, ended, heard = line.readline().strip(), threading.Event(), threading.Semaphore(0)
    threads = [threading.Thread(target=one.ask, args=(address, heard, ended)) for one in clients if address]
    for thread in threads:
        thread.start()
    if begins:
        begins.join()
    else:
        for _ in range(draw.randint(1, MOST_ANSWERS)):
            # in small parts: a machine that stands still meanwhile is not a site that does not answer
            assert any(heard.acquire(timeout=0.5) for _ in range(600)), "nobody is answered"
        time.sleep(draw.uniform(0.0, 0.1))
        os.kill(process, signal.SIGKILL)
    _, status = os.waitpid(process, 0)
    assert os.WIFSIGNALED(status), "the server ended by itself"
    ended.set()
    for thread in threads:
        thread.join()


def served(path: Path, told: int) -> None:
    """In a fork: serve the site until it is killed."""
    with Site.open(path) as site:

        def tell(address: str) -> None:
            os.write(told, f"{address}\n".encode())

        serve(site, tell)


def checked(path: Path, clients: list[Client], room: int) -> Found:
    """Count what was lost, handed out in two ways or charged beyond the budget; then mend what has no answer."""
    assert not [one for client in clients for one in client.strange]
    with SqliteLedger.open(path.parent / "patients.ledger") as ledger:
        ledger.verify()
        charged = {one.key.removeprefix("ann/"): one for one in ledger.entries()}
        twice = len(ledger.entries()) - len(charged)
        over = int(ledger.balance().certified > ledger.budget.epsilon) + max(0, len(charged) - room)
    told = {name: one for client in clients for name, one in client.told.items()}
    lost = sum(name not in charged or not charged[name].committed for name in told)
    dangling = [name for name, one in charged.items() if not one.committed]
    with Site.open(path) as site:
        ann = site.file.users["ann"]
        for client in clients:
            for name in {*client.told, *(name for name in charged if name.startswith(f"{client.name}-"))} - {*dangling}:
                again = site.ask(ann, "patients", client.question(name), epsilon=EPSILON, key=name)
                assert again.receipt is not None
                lost += not again.replayed
                twice += name in told and (again.text, again.receipt.head) != told[name]
    twice += sum(client.twice for client in clients)
    repeated = sum(client.repeated for client in clients)
    return Found(0, len(told), repeated, len(charged), len(dangling), mended(path, dangling), lost, twice, over)


def mended(path: Path, dangling: list[str]) -> int:
    """How many charges without an answer are answered once a curator has them asked again, with budget added for it."""
    with SqliteLedger.open(path.parent / "patients.ledger") as ledger:
        ledger.raise_cap(Budget(ledger.budget.epsilon + (len(dangling) + 1) * EPSILON), "questions that were killed")
    with Site.open(path) as site:
        ann, cat, found = site.file.users["ann"], site.file.users["cat"], 0
        for name in dangling:
            entry = site.store.asked_by_key("ann", "patients", name)
            assert entry is not None
            site.store.moved(entry.id, ("asked",), "dangling")
            new = site.again(cat, entry.id)
            while (answer := site.answer(ann, new.id)).state in ("queued", "running"):
                time.sleep(0.01)
            found += answer.done
        return found


def main(kills: int, folder: Path) -> None:
    """Many kills, twenty to a site: `python -m tests.service.server.site_soak 200 FOLDER`."""
    total, begun = Found(), time.time()
    for number in range(-(-kills // PART)):
        own = folder / f"site{number}"
        own.mkdir()
        total += soak(own, PART, number)
        print(f"{time.time() - begun:.0f} s: {total}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), Path(sys.argv[2]))
