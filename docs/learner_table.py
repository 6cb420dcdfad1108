"""The table of learners in the manual, from their docstrings: so it says what the classes say."""

from __future__ import annotations

import inspect
import re
from typing import Any

from discreet import learners

MARK = "<!-- the table of learners -->"


def table() -> str:
    """A row for each learner: what it is, under which trust it works, what it releases, and what is paid for."""
    kinds = [getattr(learners, name) for name in learners.__all__]
    rows = [_row(kind) for kind in kinds if inspect.isclass(kind)]
    return "\n".join(["| learner | what it is | trust | releases | is charged for |", "|---|---|---|---|---|", *rows])


def _row(kind: type[Any]) -> str:
    text = inspect.getdoc(kind) or ""
    name = kind.__name__
    released = re.findall(r"^(\w+_) : .*\n    Released\.", _section(text, "Attributes"), re.MULTILINE)
    listed = ", ".join(f"`{one}`" for one in released) or "nothing"
    cost = " ".join(_section(text, "Guarantee").split())
    price = re.split(r",? for the neighbors|\. (?=[A-Z])", cost.removeprefix("`event_`: "))[0]
    trust = "any; some methods need a curator" if "curator" in text else "any"
    trust = "a curator" if "A curator alone" in text else trust
    what = text.partition("\n")[0]
    _, _, *rooms, _ = kind.__module__.split(".")
    page = rooms[0] if rooms else "general"
    link = f"[`{name}`](reference/discreet.learners/{page}.md#discreet.learners.{name})"
    return f"| {link} | {what} | {trust} | {listed} | {price} |"


def _section(text: str, title: str) -> str:
    """One section of a docstring in numpy's form."""
    found = re.search(rf"^{title}\n-+\n(.*?)(?=^\w+\n-+$|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1] if found else ""
