"""Protocols: JSON there and back, and what is refused."""

from __future__ import annotations

import dataclasses
import json
import pkgutil
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import ParameterError
from discreet.local.protocol import RANDOMIZERS, published, randomizer_of, read_protocol
from tests.conformance.walk import randomizers


def test_every_kind_comes_back_from_its_parameters() -> None:
    labels: Any = {"domain": ("a", "b", "ü")}
    several: Any = {"domains": (("a", "b"), 7)}
    for kind in map(pkgutil.resolve_name, RANDOMIZERS.values()):
        names = {field.name for field in dataclasses.fields(kind)}
        how = labels if "domain" in names else several if "domains" in names else {}
        for randomizer in (kind(), dataclasses.replace(kind(), **{kind.calibrated: 0.5}), kind(**how)):
            document = json.loads(json.dumps(published(randomizer)))
            again = randomizer_of(document["parameters"])
            assert (again, again.fingerprint.hex()) == (randomizer, document["fingerprint"])


def test_every_randomiser_can_be_collected() -> None:
    assert {kind.kind: f"{kind.__module__}:{kind.__name__}" for kind in randomizers()} == RANDOMIZERS


def test_whole_numbers_make_the_same_fingerprint() -> None:
    one, other = ({"kind": "hybrid", "epsilon": x, "lower": 0, "upper": x} for x in (1, 1.0))
    assert randomizer_of(one).fingerprint == randomizer_of(other).fingerprint


def test_fingerprints_are_permanent() -> None:
    """Messages of years ago have them."""
    found = {name: pkgutil.resolve_name(place)().fingerprint.hex() for name, place in RANDOMIZERS.items()}
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
        "rappor": "004f741036a35974",
        "two_point": "0b7ad752d785dc0d",
        "piecewise": "a01bbbed4f06bf38",
        "hybrid": "5d2967853f6a8a35",
        "sphere_vector": "a16b52d117dffa2c",
        "half_sphere_vector": "a82a658ec5547cd9",
        "sphere_products": "cf5d5ad2abedd8da",
        "gaussian_products": "90033d7e9ebc1929",
    }


def test_what_is_not_a_protocol_is_refused(tmp_path: Path) -> None:
    assert randomizer_of({"kind": "auto", "domain": 2}).kind == "grr"
    wrong: Any
    wrongs = [
        {},
        [],
        {"kind": "magic"},
        {"kind": "rappor", "epsilon": 3.0},
        {"kind": []},
        {"kind": "grr", "domain": ["a", "\ud800"]},
    ]
    for wrong in (*wrongs, {"kind": "grr", "size": 3}, {"kind": "grr", "domain": 1}):
        with pytest.raises(ParameterError):
            randomizer_of(wrong)
    (tmp_path / "p.json").write_text("{")
    for name in ("p.json", "nothing.json"):
        with pytest.raises(ParameterError, match="read"):
            read_protocol(tmp_path / name)
