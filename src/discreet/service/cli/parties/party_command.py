"""`discreet identity`, `discreet federation` and `discreet party`: secure sums from the command line."""

from __future__ import annotations

import asyncio
import contextlib
import signal
from argparse import Namespace
from collections.abc import Coroutine
from functools import partial
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.errors import Disagreement
from discreet.crypto.identity import Identity
from discreet.crypto.paillier.threshold_key import KeyShare
from discreet.display.plain import plain
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.system_bits import system_bits
from discreet.query.federation_file import read_federation, written_federation
from discreet.query.schema_file import read_schema
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.parties.dealing import share_paths, told, write_shares
from discreet.service.cli.saying import say
from discreet.service.key_file import new_passphrase, read_card, read_identity, read_secret_key, write_identity
from discreet.trust.federation import Federation
from discreet.trust.network.serving import Serving
from discreet.trust.party import Party
from discreet.trust.policy import Policy
from discreet.trust.schemes.sum_scheme import scheme_named
from discreet.trust.sources.file import File


def identity(arguments: Namespace) -> int:
    """Draw a key, and write it and its card."""
    drawn = Identity.drawn(arguments.name, system_bits())
    card = PartyCertificate.of(drawn)
    passphrase = new_passphrase() if arguments.passphrase else None
    with OutFile(arguments.card, keep=[arguments.out]) as out:
        write_identity(arguments.out, drawn, passphrase)
        out.write(card.certificate.decode())
    done = f"Wrote {plain(arguments.out)}: keep it secret. Hand out {plain(arguments.card)}."
    say(arguments, done, key=arguments.out, card=arguments.card)
    return 0


def create(arguments: Namespace) -> int:
    """Write what all parties agree on."""
    described, cards = read_schema(arguments.schema), tuple(read_card(path) for path in arguments.party)
    paths = share_paths(arguments)
    names, scheme = [card.name for card in cards], scheme_named(arguments.scheme)
    shares = scheme.deal(names, arguments.threshold, arguments.dealer, system_bits())
    agreed = Federation(
        cards,
        read_card(arguments.server),
        arguments.threshold,
        described.schema,
        described.unit,
        described.neighbors,
        arguments.colluding,
        arguments.scheme,
        arguments.largest,
        tuple(arguments.size),
        next((share.key.to_bytes() for share in shares.values()), b""),
    )
    with OutFile(arguments.out, keep=[arguments.schema, arguments.server, *arguments.party]) as out:
        write_shares(paths, shares.values())
        out.write(written_federation(agreed))
    done = f"Wrote {plain(arguments.out)}: give it to {', '.join(plain(name) for name in agreed.names)}."
    compare = f"digest {agreed.digest.hex()}: let everybody compare it over another channel."
    lines = [done, compare, *([told(arguments.dealer, paths)] if paths else [])]
    written = [str(path) for path in paths]
    say(arguments, "\n".join(lines), wrote=arguments.out, digest=agreed.digest.hex(), shares=written)
    return 0


def show(arguments: Namespace) -> int:
    """Print who the members are, what they agreed on, and the digest of it all."""
    agreed = read_federation(arguments.federation)
    parties = {plain(card.name): card.public.hex() for card in agreed.parties}
    columns = {plain(name): plain(repr(column)) for name, column in agreed.schema.columns.items()}
    neighbors, unit, digest = agreed.neighbors.value, plain(repr(agreed.unit)), agreed.digest.hex()
    server = {"name": plain(agreed.server.name), "key": agreed.server.public.hex()}
    lines = [
        f"server {server['name']}: key {server['key']}",
        *(f"party {name}: key {key}" for name, key in parties.items()),
        f"threshold: {agreed.threshold} of {len(parties)} parties; colluding: {agreed.colluding}",
        f"scheme: {agreed.scheme}. {agreed.protocol.hides}",
        *([] if agreed.largest is None else [f"largest: no party has more than {agreed.largest} units"]),
        *([f"sizes: at least {', '.join(map(str, agreed.sizes))} units, as stated"] if agreed.sizes else []),
        f"neighbors: {neighbors}; unit: {unit}",
        *(f"{name}: {column}" for name, column in columns.items()),
        f"digest {digest}",
    ]
    say(
        arguments,
        "\n".join(lines),
        server=server,
        parties=parties,
        threshold=agreed.threshold,
        colluding=agreed.colluding,
        scheme=agreed.scheme,
        largest=agreed.largest,
        sizes=list(agreed.sizes),
        neighbors=neighbors,
        unit=unit,
        columns=columns,
        digest=digest,
    )
    return 0


def party(arguments: Namespace) -> int:
    """Take part until stopped."""
    agreed = read_federation(arguments.federation)
    _check_digest(agreed, arguments.digest)
    _check_scheme(agreed, arguments.scheme)
    policy, packages = _policy(arguments), ("discreet", *arguments.package)
    with SqliteLedger.open(arguments.ledger, analyst=arguments.analyst) as ledger:
        ledger.balance(arguments.analyst)  # an unknown analyst is refused now, not at the first question
        share = None if arguments.share is None else read_secret_key(arguments.share, KeyShare)
        own = agreed.protocol.seated(read_identity(arguments.identity), share)
        delimiter, dialect = arguments.delimiter, arguments.dialect
        records = File(arguments.file, agreed.schema, agreed.unit, delimiter=delimiter, dialect=dialect)
        member = Party(own, records, agreed, ledger=ledger, packages=packages, policy=policy)
        serving = Serving(member, partial(_told, arguments))
        work = serving.listen(arguments.listen) if arguments.listen else serving.connect(arguments.connect)
        asyncio.run(_until_stopped(work))
    return 0


def _policy(arguments: Namespace) -> Policy:
    """What the owner lets be asked."""
    epsilon, delta = arguments.most_epsilon, arguments.most_delta
    if epsilon is None and delta is not None:
        raise ParameterError("party", "--most-delta says nothing by itself", "Give --most-epsilon, too.")
    most = None if epsilon is None else Budget(epsilon, delta or 0.0)
    return Policy(
        arguments.allow,
        most,
        arguments.least_parties,
        arguments.least_units,
        arguments.most_sets,
        arguments.most_daily,
    )


def _check_scheme(agreed: Federation, expected: str | None) -> None:
    """Refuse to open sums in another way than the owner has said."""
    if expected is not None and expected != agreed.scheme:
        scheme_named(expected)
        raise Disagreement(
            "party",
            f"the federation opens sums by scheme {agreed.scheme!r}, not {expected!r}",
            f"Leave out --scheme, or agree on a federation with --scheme {expected}.",
            UNTOUCHED,
        )


def _check_digest(agreed: Federation, expected: str | None) -> None:
    """Refuse another federation than the one that was compared with the others."""
    if expected is not None and expected.strip().lower() != agreed.digest.hex():
        remedy = "Compare it with the others, and get the right file."
        raise ParameterError("federation", f"its digest is {agreed.digest.hex()}, not {expected[:80]!r}", remedy)


async def _until_stopped(work: Coroutine[Any, Any, None]) -> None:
    """Work until a signal to stop, which is no failure."""
    task = asyncio.ensure_future(work)
    for number in (signal.SIGINT, signal.SIGTERM):
        with contextlib.suppress(NotImplementedError):  # Windows interrupts instead
            asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    with contextlib.suppress(asyncio.CancelledError):
        await task


def _told(arguments: Namespace, line: str) -> None:
    """Print a line; a closed output does not stop the party."""
    with contextlib.suppress(BrokenPipeError):
        say(arguments, plain(line), told=plain(line))
