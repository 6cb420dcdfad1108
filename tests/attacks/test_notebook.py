"""What the notebook shows works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt

BOOK = Path(__file__).parents[2] / "examples" / "break_it.ipynb"


def test_the_notebook_runs_and_shows_what_it_is_about() -> None:
    book = json.loads(BOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    assert all(cell["outputs"] == [] for cell in book["cells"] if cell["cell_type"] == "code")
    names: dict[str, Any] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), BOOK.name, "exec"), names)
    assert names["found"].beats_chance
    assert names["twin"].scores.area < 0.65
    assert (names["rebuilt"].success > 0.9, names["unclear"].success < 0.75) == (True, True)
    assert all(len(ax.lines) for ax in names["curves"])
    assert [len(ax.patches) for ax in names["bars"]] == [1, 1]
    plt.close("all")
    assert names["audit"].refuted
    assert names["report"].succeeded
    assert all("NOT PRIVATE" in names[one]._repr_html_() for one in ("found", "report"))
