"""Protocols: JSON there and back, and what is refused."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from discreet.core.errors import ParameterError
from discreet.local.protocol import kinds, published, randomizer_of, read_protocol
from tests.conformance.walk import randomizers


def test_every_kind_comes_back_from_its_parameters() -> None:
    labels: Any = {"domain": ("a", "b", "ü")}
    several: Any = {"domains": (("a", "b"), 7)}
    for kind in kinds().values():
        names = {field.name for field in dataclasses.fields(kind)}
        how = labels if "domain" in names else several if "domains" in names else {}
        for randomizer in (kind(), dataclasses.replace(kind(), **{kind.calibrated: 0.5}), kind(**how)):
            document = json.loads(json.dumps(published(randomizer)))
            again = randomizer_of(document["parameters"])
            assert (again, again.fingerprint.hex()) == (randomizer, document["fingerprint"])


def test_every_randomiser_can_be_collected() -> None:
    assert kinds() == {kind.kind: kind for kind in randomizers()}


def test_whole_numbers_make_the_same_fingerprint() -> None:
    one, other = ({"kind": "hybrid", "epsilon": x, "lower": 0, "upper": x} for x in (1, 1.0))
    assert randomizer_of(one).fingerprint == randomizer_of(other).fingerprint


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
