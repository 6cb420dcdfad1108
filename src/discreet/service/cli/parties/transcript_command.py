"""`discreet federation transcript verify`: a round of verified shares, checked by somebody who was not there."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.receipt import in_words
from discreet.display.plain import plain
from discreet.query.federation_file import read_federation
from discreet.service.cli.saying import say
from discreet.trust.schemes.checked_transcript import CheckedTranscript

SHOWN = 20  # numbers of a sum that are printed


def verify(arguments: Namespace) -> int:
    """Check a transcript, and say what it proves."""
    federation = read_federation(arguments.federation)
    packages = ("discreet", *arguments.package)
    openings = {name: Path(path).read_bytes() for name, path in map(_named, arguments.opening)}
    found = CheckedTranscript.of(Path(arguments.file).read_bytes(), federation, packages, openings)
    why = "its share of the sum, or a commitment, is false"
    facts = {
        "round": plain(found.round),
        "asked": f"{plain(found.call.recipe.name.rpartition(':')[2])} with {in_words(found.call.event)}",
        "survivors": [plain(name) for name in found.survivors],
        "liars": {plain(name): plain(found.reasons.get(name, why)) for name in found.liars},
        "sum": [float(value) for value in found.values],
        "shown": {plain(name): [float(value) for value in own] for name, own in found.shown.items()},
    }
    most = len(federation.parties) - federation.threshold
    say(arguments, "\n".join([f"It holds, if at most {most} parties lied.", *_lines(facts)]), **facts)
    return 0


def _lines(facts: Mapping[str, Any]) -> Iterator[str]:
    yield f"round: {facts['round']}"
    yield f"asked: {facts['asked']}"
    yield f"in the sum: {', '.join(facts['survivors'])}"
    yield from (f"lied: {name}: {why}" for name, why in facts["liars"].items())
    yield f"sum: {_brief(facts['sum'])}"
    yield from (f"{name} put in, with its noise: {_brief(own)}" for name, own in facts["shown"].items())


def _brief(values: Sequence[float]) -> str:
    more = "" if len(values) <= SHOWN else f" and {len(values) - SHOWN} more"
    return ", ".join(f"{value:.6g}" for value in values[:SHOWN]) + more


def _named(text: str) -> tuple[str, str]:
    """NAME=FILE."""
    name, mark, path = text.partition("=")
    if not mark:
        raise ParameterError("transcript", f"{text[:80]!r} names no file", "Give NAME=FILE.")
    return name, path
