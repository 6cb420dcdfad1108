"""Protocols: JSON there and back, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import ParameterError
from discreet.local.protocol import RANDOMIZERS, published, randomizer_of, read_protocol


def test_every_kind_comes_back_from_its_parameters() -> None:
    labels: Any = {"domain": ("a", "b", "ü")}
    several: Any = {"domains": (("a", "b"), 7)}
    for kind in RANDOMIZERS.values():
        names = {field.name for field in dataclasses.fields(kind)}
        how = labels if "domain" in names else several if "domains" in names else {}
        for randomizer in (kind(), kind(epsilon=2), kind(**how)):
            document = json.loads(json.dumps(published(randomizer)))
            again = randomizer_of(document["parameters"])
            assert (again, again.fingerprint.hex()) == (randomizer, document["fingerprint"])


def test_fingerprints_are_permanent() -> None:
    """Messages of years ago have them."""
    found = {name: kind().fingerprint.hex() for name, kind in RANDOMIZERS.items()}
    assert found == {
        "grr": "4d31efdd4ef9a571",
        "pgr": "7d719d718424c4c0",
        "hadamard": "74b48c57e79e21f9",
        "subset": "da60bed3b7680a31",
        "oue": "5d6d64d0404fee4f",
        "sue": "e6df8a45d2d4a46f",
        "olh": "8eda9d9aed3570d3",
        "cms": "0c659bb86d100711",
        "hcms": "6a7fd8041925e5b1",
        "smp": "af531bf620d258c9",
        "rsfd": "21b321931e77c7d2",
        "pem": "71919be36a93fb64",
    }


def test_what_is_not_a_protocol_is_refused(tmp_path: Path) -> None:
    assert randomizer_of({"kind": "auto", "domain": 2}).kind == "grr"
    wrong: Any
    for wrong in ({}, [], {"kind": "magic"}, {"kind": "grr", "size": 3}, {"kind": "grr", "domain": 1}):
        with pytest.raises(ParameterError):
            randomizer_of(wrong)
    (tmp_path / "p.json").write_text("{")
    for name in ("p.json", "nothing.json"):
        with pytest.raises(ParameterError, match="read"):
            read_protocol(tmp_path / name)
