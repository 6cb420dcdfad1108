"""What a command says: text, or the same as JSON; and what happens to it where nobody can take it."""

from __future__ import annotations

import json
import os
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import UNTOUCHED, DiscreetError
from discreet.display.plain import plain_lines


class Unwritten(DiscreetError):
    """What a command had to say could not be written."""


def put(text: str, consequence: str = UNTOUCHED, remedy: str = "Make room, or write to another place.") -> None:
    """Write lines to standard output, all of them, without control characters.

    Parameters
    ----------
    text : str
        The lines.
    consequence, remedy : str
        What was spent for them, and what would work, for the error where they cannot be written.
    """
    try:
        sys.stdout.write(plain_lines(text) + "\n")
        sys.stdout.flush()
    except OSError as why:
        _give_up()
        if isinstance(why, BrokenPipeError) and consequence == UNTOUCHED:
            raise
        raise Unwritten("print", str(why.strerror or why), remedy, consequence) from why


@dataclass(frozen=True)
class WayOut:
    """What an error says where an answer that was paid for cannot be written."""

    consequence: str
    remedy: str = "Make room, or write to another place."

    @classmethod
    def of(cls, key: str | None) -> WayOut:
        """The answer stays under its key, if a ledger has it."""
        if key is None:
            lost = "It was released to nobody, and no ledger remembers it."
            return cls(lost, "Ask again, and write to another place.")
        kept = f"It was charged, and stays in the ledger under the key {key}."
        return cls(kept, f"Ask the same again with --key {key}, which costs nothing more.")


def say(arguments: Namespace, text: str, out: WayOut | None = None, /, **fields: Any) -> None:
    """Print the text, or with `--json` the fields as one object on a line.

    Parameters
    ----------
    arguments : Namespace
        Public. With `json`.
    text : str
        The lines.
    out : WayOut, optional
        What the error says where something was paid or changed, and this cannot be written.
    """
    out = WayOut(UNTOUCHED) if out is None else out
    put(json.dumps(fields, allow_nan=False) if arguments.json else text, out.consequence, out.remedy)


@contextmanager
def writing_paid(path: object, key: str | None) -> Iterator[None]:
    """Write a file of what was paid for: where that fails, it stays under its key, if a ledger has it."""
    try:
        yield
    except OSError as why:
        out = WayOut.of(key)
        raise Unwritten(f"write {path}", str(why.strerror or why), out.remedy, out.consequence) from why


def put_paid(text: str, key: str | None) -> None:
    """Write what was paid for: where that fails, the answer stays under its key, if a ledger has it.

    Parameters
    ----------
    text : str
        The lines.
    key : str, optional
        Under which a ledger keeps the answer.
    """
    out = WayOut.of(key)
    put(text, out.consequence, out.remedy)


def _give_up() -> None:
    """Let the interpreter not try again as it ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
