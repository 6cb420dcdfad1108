"""`discreet collect` and `discreet estimate`: take reports in over HTTP, and estimate from what was collected."""

from __future__ import annotations

from argparse import Namespace
from itertools import combinations
from pathlib import Path

from discreet.core.errors import ParameterError
from discreet.display.plain import plain
from discreet.local.frequencies import Frequencies
from discreet.local.protocol import read_protocol
from discreet.local.report_store import ReportStore
from discreet.releases.release import Release
from discreet.service.bounded_http import host_and_port
from discreet.service.cli.saying import put, say
from discreet.service.collector.collector import Collector


def collect(arguments: Namespace) -> int:
    """Serve until interrupted."""
    protocol = None if arguments.protocol is None else read_protocol(arguments.protocol)
    store = ReportStore(arguments.store, protocol)
    host, port = host_and_port("collect", arguments.listen)
    try:
        server = Collector(store, host, port)
    except OSError as why:
        raise ParameterError("collect", f"cannot listen at {arguments.listen}: {why}", "Choose another port.") from why
    with server:
        what, where = plain(repr(store.randomizer)), f"http://{host}:{server.server_address[1]}"
        say(arguments, f"collecting {what}\nlistening at {where}", collecting=what, listening=where)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            say(arguments, "stopped; all that was acknowledged is on disk", stopped=True)
    store.close()
    return 0


def estimate(arguments: Namespace) -> int:
    """Print the estimate from one or several stores of the same protocol."""
    stores = [ReportStore(path) for path in arguments.stores]
    total = stores[0].aggregator()
    for store, other in combinations(stores, 2):
        store.check_apart(other)
    for store in stores[1:]:
        total.merge(store.aggregator())
    for store in stores:
        store.close()
    if arguments.tally is not None:
        total.save(arguments.tally)
    if (arguments.candidates is None) is (total.randomizer.kind == "rappor"):
        raise ParameterError("estimate", "strings are looked for in RAPPOR reports alone", "See --candidates.", "")
    how = {} if arguments.candidates is None else {"candidates": _lines(arguments.candidates)}
    found = total.estimate(confidence=arguments.confidence, **how)
    several = found if isinstance(found, tuple) else (found,)
    if not all(isinstance(one, Release) for one in several):
        raise ParameterError("estimate", f"{type(found).__name__} is not a table", "Take --tally, and Python.", "")
    if arguments.consistent is not None:
        several = tuple(_consistent(one, arguments.consistent) for one in several)
    lines = [one.to_json() for one in several] if arguments.json else [f"{one}\n" for one in several]
    put("\n".join(lines).rstrip())
    return 0


def _lines(path: str) -> list[str]:
    try:
        return list(dict.fromkeys(filter(None, Path(path).read_text("utf-8").splitlines())))
    except (OSError, ValueError) as why:
        raise ParameterError(f"read {path}", str(why), "Give a file with one string in each line.") from why


def _consistent(found: Release, method: str) -> Release:
    if not isinstance(found, Frequencies):
        raise ParameterError("estimate", f"{found.name} are not shares of all values", "Leave out --consistent.", "")
    return found.consistent(method)
