"""Each party can show its own part of a sum later to whoever must see it, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

import discreet
from discreet.crypto.errors import Disagreement
from discreet.query.federation_file import written_federation
from discreet.service.cli.command import main
from discreet.trust.schemes.checked_transcript import CheckedTranscript
from tests.trust.schemes.test_odo_vector import PRICE, WARDS, of, parties


def test_what_a_party_put_in_is_shown_by_it_alone_and_checked_with_the_transcript(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kept: dict[str, bytes] = {}
    with parties(scheme="odo-committed") as trust:
        for name, channel in trust._here.items():
            channel._party.keep = lambda round, data, name=name: kept.update({name: data})  # type: ignore[misc]
        found = discreet.count(of(trust), where="age >= 50", **PRICE)
        data, federation = trust.transcript, trust.federation
    assert data is not None
    assert set(kept) == set(WARDS)
    checked = CheckedTranscript.of(data, federation, openings=kept)
    assert checked.values.tolist() == [found.value]
    assert sum(float(own[0]) for own in checked.shown.values()) == pytest.approx(found.value)
    for name, own in checked.shown.items():
        assert abs(own[0] - (WARDS[name]["age"] >= 50).sum()) < 60
    with pytest.raises(Disagreement, match="opening of 'east'"):
        CheckedTranscript.of(data, federation, openings={"east": kept["north"]})
    file, agreed, shown = tmp_path / "round", tmp_path / "four.federation", tmp_path / "north"
    file.write_bytes(data)
    shown.write_bytes(kept["north"])
    agreed.write_text(written_federation(federation))
    asked = ["federation", "transcript", "verify", str(file), "--federation", str(agreed)]
    assert main([*asked, "--opening", f"north={shown}"]) == 0
    assert "north put in, with its noise: " in capsys.readouterr().out
    assert main([*asked, "--opening", f"west={shown}"]) != 0
    assert main([*asked, "--opening", str(shown)]) != 0
