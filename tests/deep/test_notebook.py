"""What the notebook and the plain loop show works."""

from __future__ import annotations

import contextlib
import io
import json
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent.parent


def test_the_notebook_runs_and_shows_what_it_is_about() -> None:
    book = json.loads((ROOT / "examples" / "private_network.ipynb").read_text())
    assert (book["nbformat"], book["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in book["cells"]}) == len(book["cells"])
    code = ["".join(cell["source"]) for cell in book["cells"] if cell["cell_type"] == "code"]
    names: dict[str, Any] = {}
    with contextlib.redirect_stdout(io.StringIO()):
        for cell in code:
            exec(compile(cell, "private_network.ipynb", "exec"), names)
    assert names["right"] > 0.8
    assert names["trainer"].card().epsilon == pytest.approx(2.0, rel=1e-6)
    assert names["verdict"].holds


def test_the_plain_loop_is_short() -> None:
    text = (ROOT / "examples" / "private_network.py").read_text()
    body = text.partition("def main")[2].partition("if __name__")[0]
    assert sum(bool(line.strip()) for line in body.splitlines()) <= 20
