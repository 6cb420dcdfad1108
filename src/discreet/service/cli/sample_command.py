"""`discreet sample`: write the synthetic table and its schema, to try the commands on."""

from __future__ import annotations

from argparse import Namespace
from contextlib import ExitStack
from pathlib import Path

from discreet.core.errors import ParameterError
from discreet.query.sample import SCHEMA, TABLE
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.saying import say


def sample(arguments: Namespace) -> int:
    """Write the table and its schema, unless another file is in the way."""
    parts = {Path(arguments.folder, source.name): source.read_text(encoding="utf-8") for source in (TABLE, SCHEMA)}
    for path, text in parts.items():
        if path.exists() and not (path.is_file() and path.read_bytes() == text.encode()):
            raise ParameterError(f"write {path}", "another file is there", "Choose another folder with --folder.")
    with ExitStack() as files:
        for out, text in [(files.enter_context(OutFile(str(path))), text) for path, text in parts.items()]:
            out.write(text)
    names = [str(path) for path in parts]
    say(arguments, f"Wrote {' and '.join(names)}", table=names[0], schema=names[1])
    return 0
