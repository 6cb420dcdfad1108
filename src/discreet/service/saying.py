"""What a command says: text, or the same as JSON."""

from __future__ import annotations

import json
from argparse import Namespace
from typing import Any


def say(arguments: Namespace, text: str, **fields: Any) -> None:
    """Print the text, or with `--json` the fields as one object on a line."""
    print(json.dumps(fields, allow_nan=False) if arguments.json else text, flush=True)
