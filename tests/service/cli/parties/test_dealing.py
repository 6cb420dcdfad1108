"""A key that is dealt with a federation: shares for their holders alone, and refusals that say what to do."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from discreet.core.errors import ParameterError
from discreet.crypto.identity import Identity
from discreet.crypto.paillier.threshold_key import KeyShare
from discreet.noise.system_bits import system_bits
from discreet.query.federation_file import read_federation
from discreet.service.cli.command import main
from discreet.service.cli.parties import dealing
from discreet.service.key_file import read_secret_key, write_secret_key
from discreet.trust.schemes.encrypted import Encrypted
from discreet.trust.schemes.sum_scheme import scheme_named
from tests.crypto.paillier.small_keys import deal_small_keys

Out = pytest.CaptureFixture[str]
NAMES = ("asker", "north", "east", "west")
CREATE = ["federation", "create", "--schema", "s.toml", "--server", "asker.card", "--threshold", "2"]
CREATE += ["--colluding", "0", "--out", "f.toml", *(word for name in NAMES[1:] for word in ("--party", f"{name}.card"))]
DEALT = [*CREATE, "--scheme", "paillier", "--dealer", "dora", "--shares", "shares"]
PARTY = ["party", "north.csv", "--federation", "f.toml", "--identity", "north.key", "--ledger", "north.ledger"]
PARTY += ["--listen", "127.0.0.1:0"]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with everybody's cards, and keys that anybody can break."""
    monkeypatch.chdir(tmp_path)
    deal_small_keys(monkeypatch)
    Path("s.toml").write_text('[columns.age]\nkind = "number"\nlower = 0\nupper = 100\n')
    for name in NAMES:
        assert main(["identity", name, "--out", f"{name}.key", "--card", f"{name}.card"]) == 0
    return tmp_path


def refused(capsys: Out, argv: list[str]) -> str:
    capsys.readouterr()
    assert main(argv) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "Nothing was released or spent" in err
    return err


def test_each_party_gets_its_share_and_the_dealer_is_named(folder: Path, capsys: Out) -> None:
    capsys.readouterr()
    assert main(DEALT) == 0
    said = capsys.readouterr().out
    assert "dora dealt the key" in said
    assert "Hand each party its own share over a private line and delete it here" in said
    agreed = read_federation("f.toml")
    assert isinstance(agreed.protocol, Encrypted)
    assert (agreed.protocol.held.dealer, agreed.protocol.held.threshold) == ("dora", 2)
    assert sorted(path.name for path in Path("shares").iterdir()) == ["east.share", "north.share", "west.share"]
    assert stat.S_IMODE(Path("shares").stat().st_mode) == 0o700
    for name in NAMES[1:]:
        path = Path("shares", f"{name}.share")
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        share = read_secret_key(path, KeyShare)
        assert (share.name, share.key) == (name, agreed.protocol.held)
        assert str(share._secret) not in said


def test_a_key_is_dealt_only_by_somebody_who_says_so(capsys: Out) -> None:
    for given in ([], ["--dealer", "dora"], ["--shares", "shares"]):
        said = refused(capsys, [*CREATE, "--scheme", "paillier", *given])
        assert "it is not said who deals it or where its shares go" in said
        assert "Give --dealer NAME, who is trusted to keep no copy, and --shares FOLDER" in said
    assert "no key to deal" in refused(capsys, [*CREATE, "--dealer", "dora"])
    assert not Path("f.toml").exists()
    assert not Path("shares").exists()


def test_no_share_is_overwritten_and_none_is_left_where_one_fails(capsys: Out, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("shares").mkdir()
    Path("shares", "east.share").write_text("an older one")
    assert "there is a file already" in refused(capsys, DEALT)
    assert Path("shares", "east.share").read_text() == "an older one"
    Path("shares", "east.share").unlink()
    write = write_secret_key

    def full(path: Path, share: KeyShare) -> None:
        if path.stem == "west":
            raise ParameterError("write", "no room is left", "Make some.")
        write(path, share)

    monkeypatch.setattr(dealing, "write_secret_key", full)
    assert "no room is left" in refused(capsys, DEALT)
    assert list(Path("shares").iterdir()) == []
    assert not Path("f.toml").exists()
    Path("more").mkdir()
    Path("more", "north.card").write_bytes(Path("east.card").read_bytes())
    twins = [one.replace("east.card", "more/north.card") for one in DEALT]
    assert "same file name" in refused(capsys, twins)


def test_a_party_without_its_own_share_does_not_start(capsys: Out) -> None:
    assert main(DEALT) == 0
    Path("north.csv").write_text("age\n50\n")
    assert main(["ledger", "create", "north.ledger", "--schema", "f.toml", "--epsilon", "1"]) == 0
    for given in ([], ["--share", "shares/east.share"]):
        said = refused(capsys, [*PARTY, *given])
        assert "'north' has no share of this federation's key" in said
        assert "discreet party --share" in said
    assert "there is none in the file" in refused(capsys, [*PARTY, "--share", "north.key"])
    assert "others on this machine can read it" in refused(capsys, [*PARTY, "--share", "s.toml"])


def test_a_share_goes_with_its_own_key_alone() -> None:
    north = Identity.drawn("north", system_bits())
    dealt, again = (Encrypted().deal(NAMES[1:], 2, "dora", system_bits()) for _ in range(2))
    scheme = Encrypted(dealt["north"].key.to_bytes())
    assert scheme.seated(north, dealt["north"]).dealt is dealt["north"]
    for wrong in (None, dealt["east"], again["north"]):
        with pytest.raises(ParameterError, match="no share of this federation's key"):
            scheme.seated(north, wrong)
    masks = scheme_named("masks")
    assert masks.seated(north, None) is north
    assert masks.deal(NAMES[1:], 2, "dora", system_bits()) == {}
    with pytest.raises(ParameterError, match="has no key of which that is a share"):
        masks.seated(north, dealt["north"])


def test_the_same_is_said_in_json(capsys: Out) -> None:
    capsys.readouterr()
    assert main([*DEALT, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["shares"] == [f"shares/{name}.share" for name in NAMES[1:]]
