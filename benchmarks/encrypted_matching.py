"""Encrypted matching against TenSEAL's product of two encrypted vectors, in turns; a gallery of 1e5; lost matches.

A block of templates is compared by `Matcher`, through the same library; TenSEAL's `CKKSVector.dot` takes one pair at a
time, with moduli of 60, 40 and 60 bits, of which its errors are as small. Times of one core, once the gallery is in
memory. Identities are made up: see `made_people`.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.rows import Row, at_least, at_most, missing, printed
from discreet.core.errors import MissingExtra
from discreet.crypto.matching.gallery import Gallery
from discreet.crypto.matching.match_parameters import MatchParameters
from discreet.crypto.matching.matcher import Matcher
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.register import Register
from discreet.crypto.matching.seal_stream import seal
from discreet.crypto.matching.sealed_query import SealedQuery
from discreet.crypto.matching.template_reduction import TemplateReduction

Rows = NDArray[np.float64]
WIDE, NARROW = 512, 64
TEMPLATES, MANY = 10**5, 10**6
PEOPLE = 10_000
WITHIN, ALIKE = 0.22, 0.5  # the spread of a person's pictures: the same along all axes; in units of that of people
ROUNDS = 3


def spent(job: Callable[[], Any]) -> float:
    """The processor time of one run."""
    start = time.process_time()
    job()
    return time.process_time() - start


def rows() -> list[Row]:
    try:
        seal()
    except MissingExtra:
        return [missing("encrypted matching, which is not there: install the extra `matching`")]
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        return [*_pairs(place), *_thousands(place), *_exact(place), *_sizes(place), *_ranks()]


def directions(count: int, width: int, seed: int = 0) -> Rows:
    found = np.random.default_rng(seed).normal(size=(count, width))
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def served(folder: Path, templates: Rows, key: MatchingKey) -> Matcher:
    path = folder / f"{len(templates)}-{key.parameters.dimensions}-{key.parameters.scheme}"
    made = Matcher(Gallery.created(path, key.parameters, key.keys.digest).enrolled(templates, key), key.keys)
    made.load()
    return made


def _pairs(folder: Path) -> list[Row]:
    """A block of 512 numbers each, against one pair at a time."""
    import tenseal

    context = tenseal.context(tenseal.SCHEME_TYPE.CKKS, 8192, coeff_mod_bit_sizes=[60, 40, 60])
    context.global_scale = 2**40
    context.generate_galois_keys()
    templates = directions(2048, WIDE)
    one, other = (tenseal.ckks_vector(context, row.tolist()) for row in templates[:2])
    dot = one.dot(other)
    assert abs(dot.decrypt()[0] - templates[0] @ templates[1]) < 1e-4
    key = MatchingKey.drawn(MatchParameters(WIDE))
    matcher, query = served(folder, templates, key), SealedQuery.by_owner(templates[7], key)
    ciphertext, block = query.ciphertext, matcher._block(0)
    turned = matcher._turned(ciphertext)

    def own() -> float:
        return spent(lambda: matcher._finished(matcher._products(block, turned))) / len(templates)

    own()
    times = statistics.median(spent(lambda: one.dot(other)) / own() for _ in range(2 * ROUNDS + 1))
    expansion = statistics.median(spent(lambda: matcher._turned(ciphertext)) for _ in range(ROUNDS))
    each = statistics.median(own() for _ in range(ROUNDS))
    pair = spent(lambda: one.dot(other))
    found = matcher.answer(query).opened(key).unrounded
    return [
        at_least(f"1:N at {WIDE} numbers, for each template: times TenSEAL's dot of one pair", times, 180),
        printed(
            f"the same with the expansion of the query, for {TEMPLATES} templates", pair / (each + expansion / 1e5)
        ),
        printed(f"the expansion of a query of {WIDE} numbers, s, once", expansion),
        at_most(f"errors of scores at {WIDE} numbers, largest of 2048, in millionths", _error(found, templates), 1),
    ]


def _thousands(folder: Path) -> list[Row]:
    """64 numbers, 1e5 templates."""
    key = MatchingKey.drawn(MatchParameters(NARROW))
    templates = directions(TEMPLATES, NARROW)
    enrolled = time.process_time()
    matcher = served(folder, templates, key)
    enrolled = time.process_time() - enrolled
    query = SealedQuery.by_owner(templates[7], key)
    answer = matcher.answer(query)
    seconds = statistics.median(spent(lambda: matcher.answer(query)) for _ in range(ROUNDS))
    alone = statistics.median(spent(lambda: matcher.answer(query, 7)) for _ in range(ROUNDS))
    stranger = SealedQuery.by_anybody(templates[7], key.keys)
    matcher.answer(stranger)
    checked = spent(lambda: matcher.answer(stranger)) - seconds
    opening = spent(lambda: answer.opened(key))
    found = answer.opened(key).unrounded
    register = Register(key.keys.digest).enrolled(matcher.gallery, [str(place) for place in range(TEMPLATES)])
    block = b"".join(matcher.gallery.block(0))
    return [
        at_most(f"1e6 templates of {NARROW} numbers with expansion, s (1e5 measured, times 10)", 10 * seconds, 8),
        at_most(f"errors of scores at {NARROW} numbers, largest of 1e5, in millionths", _error(found, templates), 1),
        at_most("bytes of a template with seeds, at 1e5", matcher.gallery.size / TEMPLATES, 2000),
        printed("enrolment of 1e5 templates and their way into memory, s", enrolled),
        printed("an answer about 1e5 templates, bytes", len(answer.to_bytes())),
        printed("its opening by the key's owner, s", opening),
        printed("1:1 at 64 numbers, s", alone),
        printed("what a stranger's query takes more, s", checked),
        printed("confirming a match from its block, s", spent(lambda: register.confirmed(key, 7, block, templates[7]))),
    ]


def _exact(folder: Path) -> list[Row]:
    """8-bit values under BFV."""
    key = MatchingKey.drawn(MatchParameters(NARROW, "bfv"))
    templates = directions(8192, NARROW)
    matcher, query = served(folder, templates, key), SealedQuery.by_owner(templates[7], key)
    seconds = spent(lambda: matcher.answer(query))
    whole = key.parameters.comparable(templates) @ key.parameters.comparable(templates[7])[0]
    wrong = int((matcher.answer(query).opened(key).unrounded != key.parameters.score(whole)).sum())
    return [
        at_most("8-bit values under BFV: scores of 8192 that are not exact", wrong, 0),
        printed("8-bit values under BFV, 1e6 templates with expansion, s (8192 measured)", seconds * MANY / 8192),
    ]


def _sizes(folder: Path) -> list[Row]:
    key = MatchingKey.drawn(MatchParameters(NARROW))
    path = folder / "by anybody"
    gallery = Gallery.created(path, key.parameters, key.keys.digest).enrolled(directions(2048, NARROW), key.keys)
    return [
        at_most("bytes of a template under the public key, without seeds", gallery.size / 2048, 4000),
        printed("bytes of the public keys", len(key.keys.to_bytes())),
    ]


def made_people(count: int, seed: int, *, alike: bool = False) -> tuple[Rows, Rows]:
    """Two pictures of each person in 512 numbers: a centre whose variance falls along its axes, and a spread around it.

    Axis j of centres has variance 1 / (1 + j / 16)**2, in a rotation that is the same for all. Pictures spread around
    them along all axes by `WITHIN`; or, where axes are `alike`, as centres do, so that each axis tells as much of who
    it is as any other, and none can be spared.
    """
    rng = np.random.default_rng(seed)
    deviations = 1 / (1 + np.arange(WIDE) / 16)
    turn = np.linalg.qr(np.random.default_rng(99).normal(size=(WIDE, WIDE)))[0]
    centres = rng.normal(size=(count, WIDE)) * deviations
    spread = ALIKE * deviations if alike else WITHIN
    pictures = [(centres + spread * rng.normal(size=centres.shape)) @ turn for _ in range(2)]
    return pictures[0], pictures[1]


def _ranks() -> list[Row]:
    """How often the nearest template is the right one, with all 512 numbers and with fewer."""
    found = []
    for alike in (False, True):
        law = "each axis telling as much" if alike else "pictures spread along all axes"
        public, _ = made_people(20_000, seed=1, alike=alike)
        enrolled, asked = made_people(PEOPLE, seed=2, alike=alike)
        whole = _right(enrolled, asked, MatchParameters(WIDE))
        found.append(printed(f"rank 1 of {PEOPLE} made identities, {law}, all {WIDE} numbers", whole))
        for dimensions in (64, 128):
            reduction = TemplateReduction.learned(public, dimensions, "made-up people, others than those enrolled")
            fewer = [reduction.reduced(one) for one in (enrolled, asked)]
            lost = whole - _right(fewer[0], fewer[1], MatchParameters(dimensions))
            coarse = whole - _right(fewer[0], fewer[1], MatchParameters(dimensions, "bfv"))
            claim = f"the same, lost with {dimensions} numbers"
            found.append(printed(claim, lost) if alike else at_most(claim, lost, 0.001))
            found.append(printed(f"{claim} of 8 bits", coarse))
    return found


def _right(enrolled: Rows, asked: Rows, parameters: MatchParameters) -> float:
    """In the clear: what is computed under encryption is within 1e-6 of it, as the rows above say."""
    templates = parameters.comparable(enrolled)
    hits = 0
    for start in range(0, len(asked), 1000):
        scores = parameters.comparable(asked[start : start + 1000]) @ templates.T
        hits += int((scores.argmax(axis=1) == np.arange(start, start + len(scores))).sum())
    return hits / len(asked)


def _error(found: Rows, templates: Rows) -> float:
    """The largest, where the eighth template was looked for, in millionths."""
    return float(np.abs(found - templates @ templates[7]).max()) * 1e6
