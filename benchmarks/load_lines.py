"""A lean load: plain sockets that are all connected before anybody asks, one request at a time on each.

    python -m benchmarks.load_lines PORT CLIENTS SECONDS new|same|varied PATH KEY

Prints one line of JSON: answers a second, their times, their statuses, and its own processor time for each.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from functools import partial

LONGEST = 600.0  # seconds until each has an answer


@dataclass
class Load:
    """What all lines share."""

    port: int
    clients: int
    seconds: float
    mode: str
    path: str
    key: str
    times: list[float] = field(default_factory=list)
    statuses: Counter[str] = field(default_factory=Counter)
    warm: float = 0.0
    end: float = 0.0
    left: int = 0
    answered: int = 0
    all: int = 0
    done: asyncio.Event = field(default_factory=asyncio.Event)


class Line(asyncio.Protocol):
    """One analyst."""

    def __init__(self, load: Load, number: int) -> None:
        self.load, self.number, self.sent, self.found, self.at = load, number, 0, b"", 0.0
        self.answered = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def send(self) -> None:
        load = self.load
        name = f"same-{self.number}" if load.mode == "same" else f"{os.getpid()}-{self.number}-{self.sent}"
        question = "mean of age" if load.mode != "varied" else varied(self.number + self.sent)
        body = json.dumps({"question": question, "epsilon": 1e-3, "key": name}).encode()
        heads = ["Host: x", f"Authorization: Bearer {load.key}", f"Content-Length: {len(body)}"]
        head = "\r\n".join([f"POST {load.path} HTTP/1.1", *heads, "", ""])
        self.sent, self.at = self.sent + 1, time.perf_counter()
        self.transport.write(head.encode() + body)  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self.found += data
        end = self.found.find(b"\r\n\r\n")
        if end < 0:
            return
        length = int(self.found[:end].lower().split(b"content-length:")[1].split(b"\r\n")[0])
        if len(self.found) < end + 4 + length:
            return
        now, load = time.perf_counter(), self.load
        load.all += 1
        if not self.answered:
            self.answered = True
            load.answered += 1
            if load.answered == load.clients:
                load.warm, load.end = now + 1, now + 1 + load.seconds
        if now > load.warm:
            load.times.append(now - self.at)
            load.statuses[self.found[9:12].decode()] += 1
        self.found = b""
        if now < load.end:
            self.send()
        else:
            self.transport.close()

    def connection_lost(self, why: Exception | None) -> None:
        self.load.left -= 1
        if not self.load.left:
            self.load.done.set()


def varied(number: int) -> str:
    """One of 1,100 questions: what, of which column, of which records."""
    what = ("mean of age", "sum of stay", "count", "variance of age", "histogram of stay bins=8")
    about = what[number % len(what)]
    return f"{about} where age > {number * 7919 % 220 / 2}"


async def run(load: Load) -> dict[str, object]:
    """Connect all, ask for so long, and say how it went, once each has had an answer and a second has passed."""
    loop, lines = asyncio.get_running_loop(), []
    for number in range(load.clients):
        _, line = await loop.create_connection(partial(Line, load, number), "127.0.0.1", load.port)
        lines.append(line)
    load.left = load.clients
    await asyncio.sleep(0.3)
    load.warm = load.end = time.perf_counter() + LONGEST
    cpu = time.process_time()
    for line in lines:
        line.send()
    await load.done.wait()
    took, times = time.perf_counter() - load.warm, sorted(load.times) or [0.0]
    return {
        "rate": len(load.times) / took,
        "p50": times[len(times) // 2],
        "p99": times[int(len(times) * 0.99)],
        "most": times[-1],
        "statuses": load.statuses,
        "all": load.all,
        "own": (time.process_time() - cpu) / max(1, len(load.times)),
    }


if __name__ == "__main__":
    port, clients, seconds, mode, path, key = sys.argv[1:7]
    print(json.dumps(asyncio.run(run(Load(int(port), int(clients), float(seconds), mode, path, key)))))
