"""What a collector and its devices agree on, as a JSON document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from discreet.core.errors import ParameterError
from discreet.local.attributes.fake_data import FakeData
from discreet.local.attributes.sampled_attribute import SampledAttribute
from discreet.local.frequency_oracle import KINDS, frequency_oracle
from discreet.local.randomizer import VERSION, Randomizer
from discreet.local.strings.prefix_extension import PrefixExtension

ALL: tuple[type[Randomizer], ...] = (*KINDS, SampledAttribute, FakeData, PrefixExtension)
RANDOMIZERS = {kind.kind: kind for kind in ALL}


def randomizer_of(parameters: Any) -> Randomizer:
    """The randomiser with these parameters; the kind "auto" chooses one (`frequency_oracle`).

    Raises
    ------
    ParameterError
        There is no such kind, or it has other parameters.

    Examples
    --------
    >>> randomizer_of({"kind": "grr", "epsilon": 1.0, "domain": ["no", "yes"]})
    KaryResponse(epsilon=1.0, domain=('no', 'yes'))
    """
    if not isinstance(parameters, dict) or parameters.get("kind") not in {"auto", *RANDOMIZERS}:
        known = ", ".join(["auto", *RANDOMIZERS])
        raise ParameterError("protocol", "it has no kind that is known", f'Give {{"kind": ...}} with one of {known}.')
    how = {name: value for name, value in parameters.items() if name != "kind"}
    try:
        if parameters["kind"] == "auto":
            return frequency_oracle(**how).oracle
        return RANDOMIZERS[parameters["kind"]](**how)
    except TypeError as why:
        raise ParameterError("protocol", f"{parameters['kind']} does not have these parameters: {why}") from why


def read_protocol(path: str | Path) -> Randomizer:
    """The randomiser that a file describes."""
    try:
        return randomizer_of(json.loads(Path(path).read_text("utf-8")))
    except (OSError, ValueError) as why:
        if isinstance(why, ParameterError):
            raise
        remedy = 'Write, say, {"kind": "auto", "epsilon": 1.0, "domain": 100}.'
        raise ParameterError(f"read {path}", str(why), remedy) from why


def published(randomizer: Randomizer) -> dict[str, Any]:
    """What devices need to know."""
    return {
        "version": VERSION,
        "parameters": randomizer.parameters,
        "derived": randomizer.derived,
        "fingerprint": randomizer.fingerprint.hex(),
    }
