"""Graphs as private data: what is read, what is left out, and what the unit allows."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array

import discreet
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import PureLoss
from discreet.core.neighbors import Neighbors, Unit
from discreet.graphs.graph_data import graph_data
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.total import count_of
from discreet.questions.graphs.graph_statistic import WholeGraph
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.private_graph import PrivateGraph
from discreet.trust.sources.edge_list import EdgeList, graph_schema

PAIRS = [(0, 1), (1, 0), (2, 2), (1, 3), (3, 1), (3, 1), (0, 4)]
SIMPLE = [[0, 1], [0, 4], [1, 3]]
WHOLE = Budget(1.0)


class Networkx:
    """What is used of a networkx graph."""

    nodes = range(5)

    def edges(self) -> list[tuple[int, int]]:
        return PAIRS


def edges_of(graph: PrivateGraph) -> list[list[int]]:
    return WholeGraph(graph.nodes).answer(graph._trust._view).edges.tolist()  # type: ignore[attr-defined]


def test_every_form_of_a_graph_is_read_as_the_same_set_of_edges(tmp_path: Path) -> None:
    text = "".join(f"{a} {b}\n" for a, b in PAIRS)
    (tmp_path / "plain.txt").write_text("# from to\n" + text)
    (tmp_path / "table.csv").write_text("from,to,since\n" + "".join(f"{a}, {b},2020\n" for a, b in PAIRS))
    (tmp_path / "packed.txt.gz").write_bytes(gzip.compress(text.encode()))
    rows, columns = np.array([*PAIRS, (4, 3)]).T
    matrix = csr_array((np.append(np.ones(len(PAIRS)), 0.0), (rows, columns)), shape=(5, 5))
    forms: list[Any] = [PAIRS, np.array(PAIRS), np.array(PAIRS, dtype=float), Networkx(), matrix]
    forms += [tmp_path / "plain.txt", str(tmp_path / "table.csv"), tmp_path / "packed.txt.gz"]
    forms += [[(str(a), b) for a, b in PAIRS]]
    for unit in ("edge", "node"):
        for form in forms:
            assert edges_of(graph_data(form, 5, WHOLE, unit=unit)) == SIMPLE, form
    assert edges_of(graph_data([], 5, WHOLE, unit="edge")) == []


def test_ends_that_are_no_nodes_make_no_edge() -> None:
    strange = [(0, 5), (-1, 0), (0.5, 1), (np.nan, 1), (np.inf, 1), (None, "x"), (2**70, 1), (0, 1)]
    assert edges_of(graph_data(strange, 5, WHOLE, unit="edge")) == [[0, 1]]
    named = graph_data([("b", "a"), ("a", "z"), ("c", "b")], ("a", "b", "c"), WHOLE, unit="edge")
    assert edges_of(named) == [[0, 1], [1, 2]]
    assert named.names == ("a", "b", "c")
    places = csr_array(([1.0], ([2], [0])), shape=(3, 3))
    assert edges_of(graph_data(places, ("a", "b", "c"), WHOLE, unit="edge")) == [[0, 2]]


def test_one_pair_of_another_form_leaves_the_others() -> None:
    odd: list[Any] = [None, 5, "0 1", (0,), (0, 1, 2), [[0, 1]], {0: 1}, 3j, np.ones(3), (0, [1]), (2, {}), ((), 1)]
    for pair in odd:
        assert edges_of(graph_data([*PAIRS, pair], 5, WHOLE, unit="edge")) == SIMPLE, pair


NAMED = ("Ann Lee", "Bob", "Lee, Cid", "Zoë", "x;y")
LINES = {
    ",": '"Ann Lee",Bob,2020\nBob,"Lee, Cid"\n "Zoë", Bob\n"x;y",Zoë\n',
    ";": 'Ann Lee;Bob;2020\nBob;Lee, Cid\nZoë;"Bob"\n"x;y";Zoë\n',
    "\t": "Ann Lee\tBob\t2020\nBob\tLee, Cid\nZoë\tBob\nx;y\tZoë\n",
    " ": '"Ann Lee" Bob 2020\nBob  "Lee, Cid"\nZoë Bob\nx;y Zoë\n',
}


def test_a_file_is_read_whatever_separates_its_ends(tmp_path: Path) -> None:
    path = tmp_path / "edges.csv"
    for mark, kind in (("", "utf-8"), ("\ufeff", "utf-8"), ("\ufeff", "utf-16-le"), ("\ufeff", "utf-16-be")):
        for lines in LINES.values():
            for end in ("\n", "\r\n", "\r"):
                path.write_bytes((mark + lines.replace("\n", end)).encode(kind))
                assert edges_of(graph_data(path, NAMED, WHOLE, unit="edge")) == [[0, 1], [1, 2], [1, 3], [3, 4]]
    path.write_text("Zoë, Ann;Bob\n")
    assert edges_of(graph_data(path, ("Zoë", "Zoë, Ann", "Bob"), WHOLE, unit="edge")) == [[1, 2]]
    path.write_bytes(b"\xef\xbb\xbf0;1\r\n1;3\r\n0;4\r\n")
    assert edges_of(graph_data(path, 5, WHOLE, unit="node")) == SIMPLE


def test_a_line_changes_how_no_other_is_read(tmp_path: Path) -> None:
    path, whole = tmp_path / "edges.txt", [f"{a} {b}" for a, b in PAIRS]
    for odd in (
        '"',
        '"0',
        "0 1 2",
        '"0"x 1',
        ",;\t ",
        "\x00",
        "a" * 200_000 + '"',
        "\x0b7\x1c8",
        "\u2028",
        "0,1;3",
        "Zoë",
    ):
        for place in (0, 3, len(whole)):
            path.write_text("\n".join([*whole[:place], odd, *whole[place:]]))
            assert edges_of(graph_data(path, 5, WHOLE, unit="edge")) == SIMPLE, odd


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges.gz").write_bytes(gzip.compress(b"0 1\n" * 1000)[:-9])
    with pytest.raises(ParameterError, match="cannot be read"):
        graph_data(tmp_path / "edges.gz", 5, WHOLE, unit="edge")


def test_what_is_not_two_ends_is_refused() -> None:
    for strange in (np.ones((4, 3)), [(0, 1, 2.5), (1, 2, 0.5)], np.ones((4, 1)), np.ones(4)):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            graph_data(strange, 5, WHOLE, unit="edge")


def test_the_unit_is_stated_and_the_ledger_says_it_too() -> None:
    with pytest.raises(TypeError):
        graph_data(PAIRS, 5, WHOLE)  # type: ignore[call-arg]
    wrong: list[dict[str, Any]] = [
        {"unit": "record"},
        {"unit": "node", "neighbors": Neighbors.ADD_REMOVE},
        {"unit": "edge", "ledger": MemoryLedger(WHOLE)},
        {"unit": "edge", "ledger": MemoryLedger(WHOLE, Neighbors.ADD_REMOVE, Unit("node"))},
        {"unit": "edge", "nodes": 1},
        {"unit": "edge", "nodes": ("a", "a")},
        {"unit": "edge", "edges": np.zeros(3)},
        {"unit": "edge", "edges": "absent.txt"},
        {"unit": "edge", "edges": csr_array((4, 4))},
    ]
    for change in wrong:
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            graph_data(**{"edges": PAIRS, "nodes": 5, "ledger": WHOLE, **change})
    account = MemoryLedger(WHOLE, Neighbors.REPLACE, Unit("node"))
    assert graph_data(PAIRS, 5, account, unit="node").neighbors is Neighbors.REPLACE


def test_an_edge_is_a_record_under_every_trust_model() -> None:
    bits = DeterministicBits(1)
    graph = graph_data(PAIRS, 5, Budget(50.0), unit="edge", bits=bits)
    assert discreet.count(graph, epsilon=20.0).value == 3
    assert discreet.count(graph.where("target == 1"), epsilon=20.0).value == 1
    receipt = discreet.count(graph, epsilon=1.0).receipt
    assert receipt.lines()["protects"].startswith("one edge that is added or removed,")
    source = EdgeList(np.array(PAIRS), graph_schema(5))
    local = PrivateData(Local(source), MemoryLedger(Budget(60.0), Neighbors.REPLACE, Unit("edge")))
    assert local.public_size == 3
    assert abs(discreet.mean(local, "source", epsilon=60.0).value - 1 / 3) < 1
    replaced = graph_data(PAIRS, 5, WHOLE, unit="edge", neighbors=Neighbors.REPLACE)
    assert replaced.public_size == 3


def test_nothing_that_bounds_an_edge_can_be_asked_where_a_node_is_hidden() -> None:
    graph = graph_data(PAIRS, 5, WHOLE, unit="node")
    assert graph.public_size is None
    assert not graph.curated
    for ask in (
        lambda: discreet.count(graph),
        lambda: discreet.mean(graph, "source"),
        lambda: discreet.median(graph, "source"),
        lambda: discreet.histogram(graph, "target"),
        lambda: graph.where("source == 1"),
        lambda: discreet.learners.KMeans(2).fit(graph),
    ):
        with pytest.raises(NotPermitted, match="Nothing was released or spent"):
            ask()
    assert graph.ledger.affords(PureLoss(1.0))
    with graph.whole.permit(Laplace(2.0).event, "a sum") as permit, pytest.raises(NotPermitted, match="any number of"):
        permit.ask(count_of(graph.schema, None), Laplace(2.0))
