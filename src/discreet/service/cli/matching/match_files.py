"""The files of `discreet match`: templates, names, keys, registers, cards."""

from __future__ import annotations

import os
from pathlib import Path

from numpy.lib import format as npy

from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.matching.evaluation_keys import EvaluationKeys
from discreet.crypto.matching.match_parameters import Vectors
from discreet.crypto.matching.register import Register
from discreet.crypto.matching.template_reduction import TemplateReduction
from discreet.ledger.own_file import read_own, replace_own

LONGEST = 1 << 26  # bytes of what is public
LONGEST_REGISTER = 1 << 30


def read_vectors(path: str | Path) -> Vectors:
    """The array in a .npy file; pickled ones are refused."""
    try:
        with open(path, "rb") as file:
            found = npy.read_array(file, allow_pickle=False)
    except OSError as why:
        raise _unread(path, why) from why
    except (ValueError, EOFError, MemoryError, SyntaxError) as why:
        raise ParameterError(f"read {path}", "it is no .npy file of numbers", "Write it by numpy.save.") from why
    return found


def read_names(path: str | Path) -> list[str]:
    """A name in each line."""
    try:
        return Path(path).read_text(encoding="utf-8").splitlines()
    except OSError as why:
        raise _unread(path, why) from why
    except UnicodeDecodeError as why:
        raise ParameterError(f"read {path}", "it is not UTF-8", "Write a name in each line.") from why


def read_public(path: str | Path) -> EvaluationKeys:
    """The public part of a key."""
    return EvaluationKeys.from_bytes(_bytes(path))


def read_reduction(path: str | Path) -> TemplateReduction:
    return TemplateReduction.from_bytes(_bytes(path))


def read_register(path: str | Path) -> Register:
    """The register in a file of its owner's alone."""
    try:
        return Register.from_bytes(read_own(path, f"read {path}", 1, LONGEST_REGISTER))
    except OSError as why:
        raise _unread(path, why) from why


def write_register(path: str | Path, register: Register) -> None:
    """Write it for its owner alone, in place of the one before."""
    try:
        replace_own(path, register.to_bytes())
    except OSError as why:
        raise ParameterError(f"write {path}", str(why.strerror or why), "Choose another place.") from why


def write_public(path: str | Path, data: bytes) -> None:
    """Write a new file that anybody may have."""
    try:
        with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
            file.write(data)
    except OSError as why:
        raise ParameterError(f"write {path}", str(why.strerror or why), "Choose another place.") from why


def _bytes(path: str | Path) -> bytes:
    try:
        with open(path, "rb") as file:
            data = file.read(LONGEST + 1)
    except OSError as why:
        raise _unread(path, why) from why
    if len(data) > LONGEST:
        raise Malformed(f"read {path}", "it is too long", "Give what was written.", UNOPENED)
    return data


def _unread(path: str | Path, why: OSError) -> ParameterError:
    return ParameterError(f"read {path}", str(why.strerror or why), "Check the path.")
