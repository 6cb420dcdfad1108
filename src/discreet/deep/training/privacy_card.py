"""What goes with released weights: a card of what they cost, a digest for the ledger, files that are whole."""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from torch import Tensor

from discreet.core.events import read
from discreet.core.receipt import in_words
from discreet.display.notebook import carded, facts
from discreet.display.plain import plain


class PrivacyCard(dict[str, Any]):
    """A card as plain numbers and texts, shown as a table.

    Examples
    --------
    >>> card = PrivacyCard(unit="record", neighbors="add_remove", epsilon=1.0, delta=1e-5, steps=7)
    >>> print(card)
    protects  one record that is added or removed
        cost  epsilon 1 at delta 1e-05, for all that the account paid
       steps  7
    """

    def __str__(self) -> str:
        return as_text(self._lines())

    def _repr_html_(self) -> str:
        return as_table(self._lines())

    def _lines(self) -> dict[str, str]:
        lines = {
            "protects": f"one {self['unit']} that is added or removed",
            "cost": f"epsilon {self['epsilon']:.4g} at delta {self['delta']:g}, for all that the account paid",
            "steps": str(self["steps"]),
        }
        if "event" in self:
            lines["plan"] = in_words(read(json.dumps(self["event"])))
        if "ledger_head" in self:
            lines["ledger"] = f"head {self['ledger_head'][:16]}"
        if "versions" in self:
            lines["versions"] = ", ".join(f"{name} {version}" for name, version in self["versions"].items())
        return lines


def as_text(lines: Mapping[str, str]) -> str:
    """Names and texts, one pair on each line."""
    wide = max(map(len, lines))
    return "\n".join(f"{name:>{wide}}  {plain(text)}" for name, text in lines.items())


def as_table(lines: Mapping[str, str]) -> str:
    """The same as a table for notebooks."""
    return carded(facts(lines))


def digest(weights: Mapping[str, Tensor]) -> bytes:
    """A fingerprint of named weights: of their names and their numbers.

    Examples
    --------
    >>> import torch
    >>> digest({"a": torch.ones(2)}) == digest({"a": torch.ones(2)}), len(digest({}))
    (True, 32)
    """
    found = hashlib.sha256()
    for name, one in weights.items():
        found.update(name.encode() + one.detach().cpu().contiguous().numpy().tobytes())
    return found.digest()


@contextmanager
def written_aside(path: str | Path) -> Iterator[Path]:
    """A path beside this one to write to, which gets its name when all is written: until then the old file is there.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_aside(folder + "/card") as part:
    ...         _ = part.write_text("whole")
    ...     Path(folder, "card").read_text(), len(list(Path(folder).iterdir()))
    ('whole', 1)
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.{secrets.token_hex(8)}.part")
    try:
        yield part
        with open(part, "rb+") as file:
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)
