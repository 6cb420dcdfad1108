"""A third party checks a round with the federation's file alone: question, noise, total and liars."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import discreet
from discreet.core.errors import ParameterError
from discreet.crypto.errors import Disagreement
from discreet.crypto.odo import odo_party
from discreet.crypto.odo.transcript import Transcript
from discreet.mechanisms.additive.binomial import Binomial
from discreet.query.federation_file import written_federation
from discreet.service.cli.command import main
from discreet.trust.call import Call
from discreet.trust.schemes import odo
from discreet.trust.schemes.checked_transcript import CheckedTranscript
from discreet.trust.secure_sum import SecureSum
from tests.crypto.odo.cheats import NotABit
from tests.trust.schemes.test_odo import PRICE, SCHEMA, WARDS, of, parties


def test_a_round_is_checked_with_the_federations_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    honest: Any = odo_party.OdoParty
    monkeypatch.setattr(odo, "OdoParty", lambda who, *rest: (NotABit if who.name == "east" else honest)(who, *rest))
    with parties() as trust:
        assert trust.transcript is None
        counts = discreet.count(of(trust), **PRICE)
        data, federation = trust.transcript, trust.federation
    assert data is not None
    found = CheckedTranscript.of(data, federation)
    assert found.values.tolist() == [counts.value]
    assert (found.liars, found.survivors) == (("east",), ("north", "south", "west"))
    file, agreed = tmp_path / "round.transcript", tmp_path / "four.federation"
    file.write_bytes(data)
    agreed.write_text(written_federation(federation))
    assert main(["federation", "transcript", "verify", str(file), "--federation", str(agreed)]) == 0
    said = capsys.readouterr().out
    assert "lied: east: a number or a coin of its is no bit" in said
    assert f"sum: {counts.value:g}" in said
    file.write_bytes(data[:-1])
    assert main(["federation", "transcript", "verify", str(file), "--federation", str(agreed)]) != 0
    assert "transcript" in capsys.readouterr().err


def test_another_federation_question_or_promise_is_refused() -> None:
    with parties() as trust:
        discreet.count(of(trust), **PRICE)
        data, federation = trust.transcript, trust.federation
    assert data is not None
    with parties() as other, pytest.raises(Disagreement, match="transcript: terms"):
        CheckedTranscript.of(data, other.federation)
    found = Transcript.from_bytes(data)
    call = Call.read(found.call)
    better = dataclasses.replace(call, event=Binomial.of_coins(8000).event)
    with pytest.raises(Disagreement, match="transcript: terms"):
        CheckedTranscript.of(dataclasses.replace(found, call=better.written()).to_bytes(), federation)
    with pytest.raises(ParameterError, match="read a call"):
        CheckedTranscript.of(dataclasses.replace(found, call=b"").to_bytes(), federation)


def test_masks_have_nothing_to_check() -> None:
    with SecureSum.rehearsal(WARDS, SCHEMA, threshold=3) as trust:
        discreet.count(of(trust), epsilon=1.0)
        assert trust.transcript is None
