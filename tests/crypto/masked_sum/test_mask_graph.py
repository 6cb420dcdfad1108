"""Masks with a few instead of all: exact sums, a server that lies about the graph, and the bounds computed again."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.special import comb

from discreet.core.errors import ParameterError
from discreet.crypto.derivation import PROTOCOL
from discreet.crypto.errors import Disagreement, Malformed, ProtocolError, TooFewSurvivors
from discreet.crypto.masked_sum.client import Client
from discreet.crypto.masked_sum.mask_graph import Choice, MaskGraph, choice_of, drawn, log_failure, read, written
from discreet.crypto.masked_sum.mask_terms import SECOND, THIRD, MaskTerms
from discreet.crypto.messages import Message, Signed, framed, labelled, listed, split, unlabelled
from discreet.noise.deterministic import DeterministicBits
from tests.crypto.rehearsal import END, NAMES, Rehearsal, View, from_server, identity, sum_of, vector_of

TERMS = MaskTerms("r1", NAMES, 9, 3, protocol=THIRD, degree=8, needed=5)


@pytest.mark.parametrize("step", range(END + 1))
def test_sums_are_exact_whoever_leaves_at_whichever_step(step: int) -> None:
    """Three of twelve, and each has chosen eight, of whom five must be left: whoever leaves, that is so."""
    for gone in (("p0",), ("p3", "p7", "p11")):
        run = Rehearsal(TERMS, dict.fromkeys(gone, step))
        counted = [name for name in TERMS.parties if step > 2 or name not in gone]
        total = run.run()
        assert total.survivors == tuple(counted)
        assert np.array_equal(total.vector, sum_of(TERMS, counted))


def test_nothing_but_the_sum_can_be_opened() -> None:
    """With two who collude, and a vector that came too late."""
    for colluders in ((), ("p1", "p6")):
        run = Rehearsal(TERMS, late=["p4"])
        total = run.run()
        assert View(run, colluders).opened() == [set(total.survivors) - set(colluders)]
        assert any(not run.server._graph.joined(*pair) for pair in itertools.combinations(total.survivors, 2))


def delivered() -> tuple[Rehearsal, dict[str, Signed]]:
    run = Rehearsal(TERMS)
    for client in run.clients.values():
        run.carry(client.advertise())
    announcements = run.server.announce()
    for client in run.clients.values():
        run.carry(client.share_keys(announcements))
    return run, run.server.deliver()


def never() -> np.ndarray:
    raise AssertionError("paid")


Lie = Callable[[dict[str, bytes], dict[str, bytes], Client], tuple[dict[str, bytes], dict[str, bytes]]]


def without(names: Iterable[str], fields: dict[str, bytes]) -> dict[str, bytes]:
    return {name: one for name, one in fields.items() if name not in set(names)}


def other_choice(client: Client, name: str) -> bytes:
    chosen = read(TERMS, written(TERMS, client._chosen))
    spare = next(other for other in TERMS.parties if other not in chosen and other != name)
    return written(TERMS, chosen - {min(chosen)} | {spare})


LIES: dict[str, tuple[Lie, type[ProtocolError]]] = {
    "it is not among them": (lambda graph, boxes, me: (without([me.name], graph), boxes), Disagreement),
    "it chose others": (lambda graph, boxes, me: (graph | {me.name: other_choice(me, me.name)}, boxes), Disagreement),
    "a box is kept back": (lambda graph, boxes, me: (graph, without([min(boxes)], boxes)), Disagreement),
    "a box and the choice are kept back": (
        lambda graph, boxes, me: (without([min(boxes)], graph), without([min(boxes)], boxes)),
        ProtocolError,
    ),
    "a peer chose others": (
        lambda graph, boxes, me: (graph | {min(boxes): written(TERMS, swapped(graph, min(boxes), me.name))}, boxes),
        Disagreement,
    ),
    "a peer chose fewer": (lambda graph, boxes, me: (graph | {"p1": bytes(2)}, boxes), Malformed),
    "a peer chose itself": (
        lambda graph, boxes, me: (graph | {"p1": written(TERMS, frozenset(NAMES[1:9]))}, boxes),
        Malformed,
    ),
    "bits of nobody": (lambda graph, boxes, me: (graph | {"p1": b"\xff\xff"}, boxes), Malformed),
    "too few of its choice shared": (
        lambda graph, boxes, me: (
            without(sorted(me._chosen)[:4], graph),
            without(sorted(me._chosen)[:4], boxes),
        ),
        TooFewSurvivors,
    ),
    "a stranger": (lambda graph, boxes, me: (graph | {"x": graph["p1"]}, boxes), ProtocolError),
}


def swapped(graph: dict[str, bytes], name: str, kept: str) -> frozenset[str]:
    """Another choice of a peer, with this client still in it."""
    chosen = read(TERMS, graph[name])
    spare = next(other for other in TERMS.parties if other not in chosen and other != name)
    return chosen - {min(chosen - {kept})} | {spare}


@pytest.mark.parametrize("lie", LIES)
def test_a_server_that_lies_about_the_graph_is_refused_before_the_vector_is_asked_for(lie: str) -> None:
    change, refused = LIES[lie]
    run, boxes = delivered()
    for name in ("p0", "p5"):
        client = run.clients[name]
        shown, sealed = (unlabelled(part) for part in split(boxes[name].message.body, 2))
        body = framed(*(labelled(part) for part in change(shown, sealed, client)))
        if lie == "a box and the choice are kept back":  # it may be so: but then nobody signs the same
            client.mask(from_server(TERMS, "delivery", body), vector_of(TERMS, name))
            continue
        with pytest.raises(refused):
            client.mask(from_server(TERMS, "delivery", body), never)


def test_who_was_shown_another_graph_signs_another_statement() -> None:
    run, boxes = delivered()
    bodies = []
    for name in ("p0", "p5"):
        shown, sealed = (unlabelled(part) for part in split(boxes[name].message.body, 2))
        gone = [] if name == "p0" else ["p9"]
        body = framed(labelled(without(gone, shown)), labelled(without(gone, sealed)))
        client = run.clients[name]
        client.mask(from_server(TERMS, "delivery", body), vector_of(TERMS, name))
        survivors = listed(one for one in TERMS.parties if one != "p9")
        bodies.append(client.agree(from_server(TERMS, "survivors", survivors)).message.body)
    assert bodies[0] != bodies[1]


def test_survivors_of_whom_one_would_stand_nearly_alone_are_not_signed() -> None:
    """Nine are enough, but of those whom p5 has chosen three are left out, and a fourth has not shared."""
    run, boxes = delivered()
    for name, client in run.clients.items():
        client.mask(boxes[name], vector_of(TERMS, name))
    chosen = sorted(run.clients["p5"]._chosen)
    narrow = MaskTerms("r1", NAMES, 7, 3, protocol=THIRD, degree=8, needed=6)
    graph = MaskGraph(narrow, run.server._graph.chosen)
    left = [name for name in NAMES if name not in chosen[:3]]
    with pytest.raises(TooFewSurvivors, match="of those whom 'p5' has chosen are left at the step of masked and 6"):
        graph.check_left("masked", left, ["p5"])
    client = run.clients["p0" if "p0" in left else left[0]]
    client._graph = graph
    with pytest.raises(TooFewSurvivors, match="has chosen are left"):
        client.agree(from_server(TERMS, "survivors", listed(left)))


def test_shares_must_be_for_as_many_as_are_chosen() -> None:
    run = Rehearsal(TERMS)
    for client in run.clients.values():
        run.carry(client.advertise())
    true = run.clients["p0"].share_keys(run.server.announce())
    commitment, part = split(true.message.body, 2)
    boxes = unlabelled(part)
    for wrong in (without([min(boxes)], boxes), boxes | {"p0": b""}, without([min(boxes)], boxes) | {"p99": b""}):
        body = framed(commitment, labelled(wrong))
        with pytest.raises(Malformed, match="not for 8 others"):
            run.server.receive(Message("r1", "p0", "shares", body).signed(identity("p0")))


def test_all_choices_are_equally_likely() -> None:
    """2,000 choices of 8 of 11: each of 165 sets of those left out comes about 12 times."""
    bits = DeterministicBits(3)
    counts: dict[frozenset[str], int] = {}
    for _ in range(2000):
        chosen = drawn(TERMS, bits, "p4", NAMES)
        assert len(chosen) == 8
        assert "p4" not in chosen
        counts[chosen] = counts.get(chosen, 0) + 1
    seen = np.array([*counts.values(), *[0] * (165 - len(counts))])
    assert stats.chisquare(seen).pvalue > 1e-9


@pytest.mark.parametrize("wrong", [{"degree": 11}, {"needed": 9}, {"needed": 1}, {"degree": -1}])
def test_terms_of_graphs_that_cannot_be_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="each party chooses"):
        dataclasses.replace(TERMS, **wrong)


@pytest.mark.parametrize("protocol", [PROTOCOL, SECOND])
def test_who_mask_with_a_few_have_a_protocol_of_their_own(protocol: bytes) -> None:
    with pytest.raises(ParameterError, match="Name the other protocol"):
        dataclasses.replace(TERMS, protocol=protocol)


def bound_again(k: int, threshold: int, corrupt: int, choice: Choice) -> float:
    """The chance of (a), (b) or (c) in `masked_sum.md`, by plain sums with scipy's hypergeometric law."""
    d, m, honest = choice.degree, choice.needed, k - corrupt

    def tail(marked: int, least: int) -> float:
        return float(stats.hypergeom.sf(least - 1, k - 1, min(marked, k - 1), d)) if least > 0 else 1.0

    few = [tail(marked, 2 * m - d) for marked in range(k)]
    many = [tail(marked, m) for marked in range(k)]
    none = [comb(k - 1 - r, d) / comb(k - 1, d) for r in range(k)]
    total = honest * tail(corrupt, m)
    total += sum(comb(honest, q) * few[min(q - 1 + corrupt, k - 1)] ** q for q in range(1, k - threshold + 1))
    for s in range(1, honest):
        for q in range(min(k - threshold, honest - s - 1) + 1):
            near = min(s + q - 1 + corrupt, k - 1)
            sets = comb(honest, s) * comb(honest - s, q) * few[near] ** q
            for r in range(max(1, threshold - corrupt - s), honest - s - q + 1):
                total += sets * comb(honest - s - q, r) * min(many[near], none[r]) ** s * none[s] ** r
    return total


@pytest.mark.parametrize(("parties", "leave", "collude"), [(100, 10, 5), (100, 5, 5), (61, 6, 3)])
def test_the_chances_are_below_two_to_the_minus_40_by_another_computation(
    parties: int, leave: int, collude: int
) -> None:
    """For every number of parties who announced keys; and two fewer choices would not do."""
    threshold = parties - leave
    choice = choice_of(parties, threshold, collude)
    assert choice is not None
    gone = stats.hypergeom.sf(choice.degree - choice.needed, parties - 1, leave, choice.degree)
    assert parties * gone < 2.0**-40
    for k in range(threshold, parties + 1):
        again = bound_again(k, threshold, collude, choice)
        assert again < 2.0**-40
        found = math.exp(log_failure(k, threshold, collude, choice))
        assert found == pytest.approx(again, rel=1e-6, abs=1e-280)
    less = Choice(choice.degree - 2, choice.needed - 2)
    fails = bound_again(parties, threshold, collude, less) > 2.0**-40
    late = parties * stats.hypergeom.sf(less.degree - less.needed - 1, parties - 1, leave, less.degree) > 2.0**-40
    assert fails or late


def test_where_too_many_may_leave_or_collude_all_mask_with_all() -> None:
    assert choice_of(100, 67, 33) is None


def test_any_of_the_honest_may_have_chosen_too_many_of_the_corrupt() -> None:
    """One of them alone has a chance of the hypergeometric law; the bound is over all of them."""
    honest, corrupt, choice = 100, 100, Choice(30, 20)
    alone = stats.hypergeom.logsf(choice.needed - 1, honest + corrupt - 1, corrupt, choice.degree)
    assert log_failure(200, 200, corrupt, choice) >= math.log(honest) + alone - 1e-9
