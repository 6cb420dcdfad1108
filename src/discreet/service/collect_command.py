"""`discreet collect` and `discreet estimate`: take reports in over HTTP, and estimate from what was collected."""

from __future__ import annotations

import sys
from argparse import Namespace
from itertools import combinations

from discreet.core.display import plain
from discreet.core.errors import ParameterError
from discreet.local.protocol import read_protocol
from discreet.local.report_store import ReportStore
from discreet.service.collector import Collector


def collect(arguments: Namespace) -> int:
    """Serve until interrupted."""
    protocol = None if arguments.protocol is None else read_protocol(arguments.protocol)
    store = ReportStore(arguments.store, protocol)
    host, _, port = arguments.listen.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise ParameterError("collect", f"--listen is {arguments.listen}", "Give HOST:PORT, say 127.0.0.1:8080.")
    try:
        server = Collector(store, host, int(port))
    except OSError as why:
        raise ParameterError("collect", f"cannot listen at {arguments.listen}: {why}", "Choose another port.") from why
    with server:
        print(f"collecting {plain(repr(store.randomizer))}", flush=True)
        print(f"listening at http://{host}:{server.server_address[1]}", flush=True)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            print("stopped; all that was acknowledged is on disk")
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
    found = total.estimate(confidence=arguments.confidence)
    shown = found if arguments.consistent is None else found.consistent(arguments.consistent)
    sys.stdout.write((shown.to_json() if arguments.json else str(shown)) + "\n")
    return 0
