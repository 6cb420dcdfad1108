"""What the notebook shows works."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

BOOK = Path(__file__).parents[2] / "examples" / "give_a_table_away.ipynb"


def test_the_notebook_runs_and_shows_what_it_is_about() -> None:
    book = json.loads(BOOK.read_text(encoding="utf-8"))
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    assert all(cell["outputs"] == [] for cell in book["cells"] if cell["cell_type"] == "code")
    names: dict[str, Any] = {}
    for cell in book["cells"]:
        if cell["cell_type"] == "code":
            exec(compile("".join(cell["source"]), BOOK.name, "exec"), names)
    assert [count.name.rpartition(" ")[2] for count in names["counts"]] == ["(measured)", "(bounded)"]
    assert "NOT PRIVATE" in names["report"]._repr_html_()
    assert (names["anonymity"].k >= 10, names["anonymity"].l >= 2) == (True, True)
    assert names["told"] == {"flu": 1}
    assert names["table"].receipt.epsilon <= 2.0
