"""`discreet federation transcript verify`: a round of verified shares, checked by somebody who was not there."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from discreet.core.receipt import in_words
from discreet.display.plain import plain
from discreet.query.federation_file import read_federation
from discreet.service.cli.saying import say
from discreet.trust.checked_transcript import CheckedTranscript

SHOWN = 20  # numbers of a sum that are printed


def verify(arguments: Namespace) -> int:
    """Check a transcript, and say what it proves."""
    federation = read_federation(arguments.federation)
    packages = ("discreet", *arguments.package)
    found = CheckedTranscript.of(Path(arguments.file).read_bytes(), federation, packages)
    asked = f"{plain(found.call.recipe.name.rpartition(':')[2])} with {in_words(found.call.event)}"
    liars = {plain(name): plain(found.reasons.get(name, "it gave a false share of the sum")) for name in found.liars}
    values = [float(value) for value in found.values]
    more = "" if len(values) <= SHOWN else f" and {len(values) - SHOWN} more"
    lines = [
        f"Round {plain(found.round)} holds, if at most {len(federation.parties) - federation.threshold} parties lied.",
        f"asked: {asked}",
        f"in the sum: {', '.join(plain(name) for name in found.survivors)}",
        *(f"lied: {name}: {why}" for name, why in liars.items()),
        f"sum: {', '.join(f'{value:.6g}' for value in values[:SHOWN])}{more}",
    ]
    survivors = [plain(name) for name in found.survivors]
    say(
        arguments, "\n".join(lines), round=plain(found.round), asked=asked, survivors=survivors, liars=liars, sum=values
    )
    return 0
