"""What matching will cost: ciphertexts, bytes and seconds, before any work is done."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from discreet.core.checks import check_whole
from discreet.crypto.matching.gallery import BLOCK, DIGEST, HEAD
from discreet.crypto.matching.match_parameters import (
    DEGREE,
    QUERY_SCALE,
    TEMPLATE_SCALE,
    MatchParameters,
    MatchScheme,
)
from discreet.crypto.matching.matching_key import MatchingKey
from discreet.crypto.matching.seal_forms import ciphertext_bytes, ciphertext_of
from discreet.crypto.matching.seal_stream import seal
from discreet.crypto.paillier.work_plan import WorkPlan

POLYNOMIALS, WORD = 2, 8
MESSAGE = 200  # bytes beside the ciphertexts of a message, about


@dataclass(frozen=True)
class MatchPlan:
    """The parts of a job, counted beforehand. Seconds are of one core of this machine, right within a factor of two.

    Parameters
    ----------
    enrolment : WorkPlan
        The gallery, under the secret key.
    query : WorkPlan
        One query by the owner of the key.
    answer : WorkPlan
        What the keeper computes and sends, once the gallery is in memory.
    loading : float
        Seconds in which the keeper brings the gallery into memory.
    memory : int
        Bytes that it has there.
    """

    enrolment: WorkPlan
    query: WorkPlan
    answer: WorkPlan
    loading: float
    memory: int

    def __str__(self) -> str:
        lines = [f"{name}: {getattr(self, name)}" for name in ("enrolment", "query", "answer")]
        return "\n".join([*lines, f"in memory: {self.memory / 1e6:.3g} MB after {self.loading:.2g} s"])


def plan_match(parameters: MatchParameters, templates: int) -> MatchPlan:
    """What a gallery of so many templates costs, and one query for all of them.

    Examples
    --------
    >>> plan = plan_match(MatchParameters(64), 10**6)
    >>> plan.enrolment.ciphertexts, plan.enrolment.bytes // 10**6, plan.answer.ciphertexts
    (31296, 1155, 489)
    """
    check_whole("plan", "templates", templates)
    blocks, width = -(-int(templates) // parameters.capacity), parameters.width
    each, count = _seconds(parameters.scheme), blocks * width
    size = HEAD.size + blocks * (BLOCK.size + DIGEST) + count * parameters.seeded_size
    work = (width - 1) * each.rotate + count * each.multiply + blocks * each.finish
    return MatchPlan(
        WorkPlan(count, size, count * each.seal),
        WorkPlan(1, parameters.seeded_size + MESSAGE, each.seal),
        WorkPlan(blocks, blocks * parameters.answer_size + MESSAGE, work),
        count * each.load,
        count * POLYNOMIALS * len(parameters.engine.data_primes) * DEGREE * WORD,
    )


@dataclass(frozen=True)
class MatchSeconds:
    """How long one of each step takes on this machine."""

    seal: float
    load: float
    rotate: float
    multiply: float
    finish: float


@cache
def _seconds(scheme: MatchScheme) -> MatchSeconds:
    parameters = MatchParameters(2, scheme)
    key, engine = MatchingKey.drawn(parameters), parameters.engine
    evaluator, ones = engine.evaluator, np.ones(parameters.capacity)
    sealed = key.sealed(ones, TEMPLATE_SCALE)
    one, other = (ciphertext_of(parameters, sealed, scale) for scale in (TEMPLATE_SCALE, QUERY_SCALE))
    turned, product, total = (seal().Ciphertext() for _ in range(3))
    rotate = evaluator.rotate_vector if scheme == "ckks" else evaluator.rotate_rows
    evaluator.multiply(one, other, total)

    def finish() -> None:
        found = seal().Ciphertext()
        evaluator.relinearize(total, key.keys.relinearising, found)
        (evaluator.rescale_to_next_inplace if scheme == "ckks" else evaluator.mod_switch_to_next_inplace)(found)
        ciphertext_bytes(engine, found)

    def multiply() -> None:
        evaluator.multiply(one, other, product)
        evaluator.add_inplace(total, product)

    return MatchSeconds(
        _shortest(lambda: key.sealed(ones, TEMPLATE_SCALE)),
        _shortest(lambda: ciphertext_of(parameters, sealed, TEMPLATE_SCALE)),
        _shortest(lambda: rotate(one, 1, key.keys.rotating, turned)),
        _shortest(multiply),
        _shortest(finish),
    )


def _shortest(job: Callable[[], Any]) -> float:
    """The least time of a few runs."""
    times = []
    for _ in range(5):
        start = time.perf_counter()
        job()
        times.append(time.perf_counter() - start)
    return min(times)
