"""What goes with released weights: what is told of them, a digest for the ledger, files that are whole."""

from __future__ import annotations

import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from torch import Tensor

from discreet.display.notebook import carded, facts
from discreet.display.plain import plain


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
