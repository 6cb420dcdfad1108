"""What the notebook shows works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

BOOK = Path(__file__).parents[3] / "examples" / "steal_a_network.ipynb"


@pytest.fixture(scope="module")
def short_keys() -> None:
    """None: the notebook draws a key as long as any."""


def test_the_notebook_has_cells_of_their_own_and_no_outputs() -> None:
    book = json.loads(BOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    assert all(cell["outputs"] == [] for cell in book["cells"] if cell["cell_type"] == "code")


@pytest.mark.slow
def test_the_notebook_trains_and_then_steals_the_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MPLBACKEND", "agg")
    names: dict[str, Any] = {}
    for cell in json.loads(BOOK.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), BOOK.name, "exec"), names)
    assert names["right"] > 0.85
    assert (names["stolen"] == names["truth"]).all()
    assert "65 slots are asked, and 'thief' has 40 left of 40" in names["refused"]
    assert names["counts"]["bare product"] == 64 * 32
    assert names["counts"]["answer of the server"] <= 64  # those of the slot that was asked, and some by chance
