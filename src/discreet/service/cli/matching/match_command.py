"""`discreet match`: keys, galleries, their keepers, judges and askers from the command line."""

from __future__ import annotations

import asyncio
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.crypto.certificate import PartyCertificate
from discreet.crypto.identity import Identity
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import MatchParameters, Vectors
from discreet.crypto.matching.match_plan import plan_match
from discreet.crypto.matching.matcher import ALL, Matcher
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.register import Register
from discreet.crypto.matching.template_reduction import NONE, TemplateReduction
from discreet.crypto.messages import Signed
from discreet.display.plain import plain
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.service.cli.matching.match_files import (
    read_names,
    read_public,
    read_reduction,
    read_register,
    read_vectors,
    write_public,
    write_register,
)
from discreet.service.cli.parties.party_command import tell, until_stopped
from discreet.service.cli.saying import WayOut, say
from discreet.service.key_file import new_passphrase, read_card, read_identity, read_secret_key, write_secret_key
from discreet.trust.matching.gallery_keeper import GalleryKeeper
from discreet.trust.matching.match_account import MatchAccount
from discreet.trust.matching.match_judge import MatchJudge
from discreet.trust.matching.match_line import LONGEST_ANSWER, LONGEST_QUESTION, MatchService, answered
from discreet.trust.matching.match_members import MatchMembers
from discreet.trust.matching.match_question import BlockQuestion, MatchQuestion

NO_EPSILON = Budget(1e-9)  # nothing but what is waived can be charged
ANSWERED = WayOut("The question was answered, and counts.", "Write to another place, and ask again.")


def key(arguments: Namespace) -> int:
    """Draw a key, and write it and its public part."""
    drawn = MatchingKey.drawn(MatchParameters(arguments.dimensions, arguments.scheme))
    passphrase = new_passphrase() if arguments.passphrase else None
    write_secret_key(arguments.out, drawn, passphrase)
    write_public(arguments.public, drawn.keys.to_bytes())
    done = f"Wrote {plain(arguments.out)}: keep it secret. {plain(arguments.public)} is for the gallery's keeper."
    say(arguments, done, key=arguments.out, public=arguments.public, digest=drawn.keys.digest.hex())
    return 0


def plan(arguments: Namespace) -> int:
    """Print what a gallery and a query would take."""
    found = plan_match(MatchParameters(arguments.dimensions, arguments.scheme), arguments.templates)
    say(arguments, str(found), **asdict(found))
    return 0


def reduce(arguments: Namespace) -> int:
    """Learn a reduction on public vectors."""
    vectors = read_vectors(arguments.vectors)
    found = TemplateReduction.learned(vectors, arguments.dimensions, arguments.learned_on)
    write_public(arguments.out, found.to_bytes())
    say(arguments, f"Wrote {plain(arguments.out)}", wrote=arguments.out, digest=found.digest.hex())
    return 0


def enrol(arguments: Namespace) -> int:
    """Add a batch to a gallery, and its names to the register."""
    own, names = read_secret_key(arguments.key, MatchingKey), read_names(arguments.names)
    reduction = None if arguments.reduction is None else read_reduction(arguments.reduction)
    rows = _reduced(read_vectors(arguments.templates), reduction)
    own.parameters.directions(rows)
    there = Path(arguments.gallery).exists()
    if not there and Path(arguments.register).exists():
        raise ParameterError("enrol", "there is a register and no gallery", "Give the gallery, or another register.")
    register = read_register(arguments.register) if there else Register(own.keys.digest)
    register.check_new(names)
    if len(names) != (1 if rows.ndim == 1 else len(rows)):
        raise ParameterError("enrol", f"there are {len(names)} names for {len(rows)} templates", "Give one for each.")
    digest = NONE if reduction is None else reduction.digest
    gallery = (
        Gallery.opened(arguments.gallery, own.keys.digest)
        if there
        else Gallery.created(arguments.gallery, own.parameters, own.keys.digest, digest)
    )
    _check_reduction(gallery, digest)
    register.check_of(gallery)
    enrolled = gallery.enrolled(rows, own)
    write_register(arguments.register, register.enrolled(enrolled, names))
    done = f"{plain(arguments.gallery)} has {enrolled.templates} templates in {enrolled.size / 1e6:.3g} MB"
    say(arguments, done, templates=enrolled.templates, bytes=enrolled.size)
    return 0


def ledger(arguments: Namespace) -> int:
    """Open an account for answers."""
    with SqliteLedger.create(
        arguments.ledger, NO_EPSILON, name="answers about a gallery", neighbors=Neighbors.ADD_REMOVE
    ):
        pass
    say(arguments, f"Opened {plain(arguments.ledger)}", ledger=arguments.ledger)
    return 0


def serve(arguments: Namespace) -> int:
    """Keep a gallery until stopped."""
    keys = read_public(arguments.public)
    resident = ALL if arguments.resident is None else arguments.resident
    matcher = Matcher(Gallery.opened(arguments.gallery, keys.digest), keys, resident)
    own, members = _called(arguments)
    with SqliteLedger.open(arguments.ledger) as account:
        keeper = GalleryKeeper(own, matcher, members, _account(arguments, account))
        matcher.load()
        return _listening(arguments, own, members, keeper.answer, LONGEST_QUESTION)


def judge(arguments: Namespace) -> int:
    """Decide until stopped."""
    secret = read_secret_key(arguments.key, MatchingKey)
    register = None if arguments.register is None else read_register(arguments.register)
    own, members = _called(arguments)
    with SqliteLedger.open(arguments.ledger) as account:
        decides = MatchJudge(
            own,
            secret,
            read_card(arguments.keeper),
            members,
            arguments.threshold,
            _account(arguments, account),
            register,
            partial(tell, arguments),
        )
        return _listening(arguments, own, members, decides.answer, LONGEST_ANSWER)


def ask(arguments: Namespace) -> int:
    """Look for a template, as the key's owner or as somebody who is told yes or no."""
    reduction = None if arguments.reduction is None else read_reduction(arguments.reduction)
    vector = _reduced(read_vectors(arguments.template), reduction)
    own, keeper = read_identity(arguments.identity), read_card(arguments.keeper)
    if arguments.key is None:
        return _ask_judge(arguments, vector, own, keeper)
    if arguments.register is None or arguments.threshold is None:
        raise ParameterError("ask", "--key needs --register and --threshold", "Give both.")
    return _ask_keeper(arguments, vector, own, keeper)


def _ask_keeper(arguments: Namespace, vector: Vectors, own: Identity, keeper: PartyCertificate) -> int:
    secret, register = read_secret_key(arguments.key, MatchingKey), read_register(arguments.register)
    number = arguments.number if arguments.name is None else register.place(arguments.name)
    members = MatchMembers(keeper, (PartyCertificate.of(own),))
    exchange = partial(_exchanged, arguments.at, own, members)
    question = MatchQuestion.by_owner(vector, own, keeper, secret, number)
    scores = question.scores(exchange(question.asked))
    opened = scores.opened(secret)
    if number is None:
        register.check_whole(scores)
        places = opened.found(arguments.threshold)
        found = [(register.names[place], place, float(opened.rounded[place])) for place in places]
    else:
        slot = register.seat(number)[1]
        score = float(opened.rounded[slot])
        found = [(register.names[number], number, score)] if slot in opened.found(arguments.threshold) else []
    if arguments.confirm and found:
        fetched = BlockQuestion(own, keeper, found[0][1])
        block = fetched.block(exchange(fetched.asked))
        name, place, _ = found[0]
        found = [(name, place, register.confirmed(secret, place, block, vector)), *found[1:]]
        found = found if found[0][2] >= arguments.threshold else found[1:]
    lines = [f"{plain(name)}: {score:.3f}" for name, _, score in found] or ["no match"]
    say(
        arguments,
        "\n".join(lines),
        ANSWERED,
        matches=[{"name": plain(name), "score": score} for name, _, score in found],
    )
    return 0


def _ask_judge(arguments: Namespace, vector: Vectors, own: Identity, keeper: PartyCertificate) -> int:
    if arguments.judge is None or arguments.judge_at is None or arguments.name is not None:
        remedy = "Give both; say --number in place of --name."
        raise ParameterError("ask", "--public needs --judge and --judge-at, and knows no names", remedy)
    judge, card = read_card(arguments.judge), PartyCertificate.of(own)
    question = MatchQuestion.by_anybody(vector, own, keeper, read_public(arguments.public), arguments.number)
    scores = _exchanged(arguments.at, own, MatchMembers(keeper, (card,)), question.asked)
    said = _exchanged(arguments.judge_at, own, MatchMembers(judge, (card,)), question.to_judge(scores))
    decision = question.decision(said, judge)
    say(arguments, "yes" if decision else "no", ANSWERED, match=decision)
    return 0


def _exchanged(address: str, own: Identity, members: MatchMembers, asked: Signed) -> Signed:
    try:
        return asyncio.run(answered(address, own, members, asked))
    except ConnectionError as why:
        raise ParameterError("ask", str(why), "Check the address and the cards.") from why


def _called(arguments: Namespace) -> tuple[Identity, MatchMembers]:
    own = read_identity(arguments.identity)
    return own, MatchMembers(PartyCertificate.of(own), tuple(map(read_card, arguments.asker)))


def _account(arguments: Namespace, ledger: SqliteLedger) -> MatchAccount:
    return MatchAccount(ledger, arguments.waiver, arguments.most, arguments.daily)


def _listening(
    arguments: Namespace, own: Identity, members: MatchMembers, answer: Callable[[Signed], Signed], longest: int
) -> int:
    service = MatchService(own, members, answer, partial(tell, arguments), longest)
    asyncio.run(until_stopped(service.listen(arguments.listen)))
    return 0


def _reduced(vectors: Vectors, reduction: TemplateReduction | None) -> Vectors:
    return vectors if reduction is None else reduction.reduced(vectors)


def _check_reduction(gallery: Gallery, digest: bytes) -> None:
    """Refuse templates that were reduced in another way."""
    if gallery.reduction != digest:
        raise ParameterError("enrol", "the gallery's templates were reduced in another way", "Give its --reduction.")
