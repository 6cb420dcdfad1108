"""What a collector and its devices agree on, as a JSON document."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import json
import pkgutil
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any

from discreet.core.errors import ParameterError
from discreet.local.frequency_oracle import frequency_oracle
from discreet.local.randomizer import VERSION, Randomizer


@cache
def kinds() -> dict[str, type[Randomizer]]:
    """The randomisers, by their permanent names: files of this room are found by themselves."""
    room = importlib.import_module(__package__)
    for found in pkgutil.walk_packages(room.__path__, f"{__package__}."):
        importlib.import_module(found.name)
    files = [module for name, module in list(sys.modules.items()) if name.startswith(f"{__package__}.")]
    return {kind.kind: kind for module in files for kind in _defined(module)}


def _defined(module: ModuleType) -> list[type[Randomizer]]:
    own = [one for one in vars(module).values() if inspect.isclass(one) and one.__module__ == module.__name__]
    return [
        one for one in own if issubclass(one, Randomizer) and not (inspect.isabstract(one) or one.__name__[0] == "_")
    ]


def randomizer_of(parameters: Any) -> Randomizer:
    """The randomiser with these parameters; the kind "auto" chooses one (`frequency_oracle`).

    Raises
    ------
    ParameterError
        There is no such kind, or it has other parameters.

    Examples
    --------
    >>> randomizer_of({"kind": "grr", "epsilon": 1.0, "domain": ["no", "yes"]})
    GeneralizedRandomizedResponse(epsilon=1.0, domain=('no', 'yes'))
    """
    if not isinstance(parameters, dict) or parameters.get("kind") not in ("auto", *kinds()):
        known = ", ".join(["auto", *kinds()])
        raise ParameterError("protocol", "it has no kind that is known", f'Give {{"kind": ...}} with one of {known}.')
    how = {name: value for name, value in parameters.items() if name != "kind"}
    try:
        if parameters["kind"] == "auto":
            return frequency_oracle(**how).oracle
        return _made(kinds()[parameters["kind"]], how)
    except ParameterError:
        raise
    except (TypeError, ValueError, OverflowError, AttributeError) as why:
        raise ParameterError("protocol", f"{parameters['kind']} does not have these parameters: {why}") from why


def _made(kind: type[Randomizer], how: dict[str, Any]) -> Randomizer:
    """A randomiser of this kind; parameters that follow from others must be right."""
    follow = {field.name for field in dataclasses.fields(kind) if not field.init}
    made = kind(**{name: value for name, value in how.items() if name not in follow})
    _ = made.fingerprint, made.derived, made.form  # all that devices need can be computed
    wrong = [name for name in follow & how.keys() if how[name] != made.parameters[name]]
    if wrong:
        raise ParameterError("protocol", f"{wrong[0]} is not what the other parameters make it", "Leave it out.")
    return made


def read_protocol(path: str | Path) -> Randomizer:
    """The randomiser that a file describes."""
    try:
        return randomizer_of(json.loads(Path(path).read_text("utf-8")))
    except (OSError, ValueError) as why:
        if isinstance(why, ParameterError):
            raise
        remedy = 'Write, say, {"kind": "auto", "epsilon": 1.0, "domain": 100}.'
        raise ParameterError(f"read {path}", str(why), remedy) from why


def agreed(document: Any) -> Randomizer:
    """The randomiser that a collector published, for a device that does not trust it.

    Version, derived numbers and fingerprint are computed here, and a document that says otherwise is refused: reports
    with other ones could tell more than epsilon allows, and a device that notices only later would tell by its silence.

    Raises
    ------
    ParameterError
        The document is not what `published` makes of its parameters.

    Examples
    --------
    >>> agreed(published(frequency_oracle(2).oracle))
    GeneralizedRandomizedResponse(epsilon=1.0, domain=2)
    """
    found = randomizer_of(document.get("parameters") if isinstance(document, dict) else None)
    ours = json.loads(json.dumps(published(found)))
    wrong = [name for name in ours if document.get(name) != ours[name]]
    if wrong:
        raise ParameterError("protocol", f"its {wrong[0]} is not that of its parameters", "Do not report to it.")
    return found


def published(randomizer: Randomizer) -> dict[str, Any]:
    """What devices need to know."""
    return {
        "version": VERSION,
        "parameters": randomizer.parameters,
        "derived": randomizer.derived,
        "fingerprint": randomizer.fingerprint.hex(),
    }
