"""Parties as processes: killed in the middle of rounds, started again, and their accounts afterwards."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.crypto.errors import TooFewSurvivors
from discreet.crypto.masked_sum.server import Server
from discreet.crypto.messages import Signed
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.columns.total import count_of
from discreet.schema.schema import Schema
from discreet.service.local_parties import LocalParties, LocalParty, local_parties
from discreet.trust.secure_sum import SecureSum
from tests.trust.network.lightning import lightning

pytestmark = pytest.mark.filterwarnings("ignore::discreet.trust.secure_sum.OtherSurvivors")
SCHEMA = Schema.numeric(0.0, 1.0, 1)
NOISE = Gaussian(0.25)
BUDGET = Budget(1e5, 1e-6)


class Story:
    """Five groups of processes, whose numbers of records show who is in a sum: 13 deviations of noise apart."""

    def __init__(self, parties: LocalParties, rows: dict[str, int], doomed: Path) -> None:
        self.parties, self.rows, self.doomed = parties, rows, doomed
        self.paid = dict.fromkeys(parties, 0)

    def group(self, i: int) -> list[str]:
        names, size = list(self.rows), len(self.rows) // 5
        return names[i * size : (i + 1) * size]

    def total(self, trust: SecureSum | None = None) -> float:
        sum_of_heads = (trust or self.parties.trust).ask(lightning(SCHEMA, str(self.doomed)), NOISE)[0]
        return float(np.rint(sum_of_heads / 8) * 8)

    def without(self, *gone: str) -> float:
        return float(sum(rows for name, rows in self.rows.items() if name not in gone))

    def check_accounts(self, *unpaid: str) -> None:
        """All but these have paid for one more round; every charge is there, and none twice."""
        for name, party in self.parties.items():
            self.paid[name] += name not in unpaid
            with SqliteLedger.open(party.ledger) as ledger:
                entries = ledger.entries()
            assert len(entries) == len({entry.key for entry in entries}) == self.paid[name]
            assert all(entry.event == NOISE.event and entry.committed for entry in entries)

    def kill(self, *names: str) -> None:
        for name in names:
            self.parties[name].kill()

    def restart(self, *names: str) -> None:
        for name in names:
            self.parties[name].restart()


@contextmanager
def killed_after(story: Story, monkeypatch: pytest.MonkeyPatch, kind: str, *names: str) -> Iterator[None]:
    """These are killed as soon as the server has heard this message of theirs."""
    receive = Server.receive

    def heard(server: Server, signed: Signed) -> None:
        receive(server, signed)
        if signed.message.kind == kind and signed.message.sender in names:
            story.kill(signed.message.sender)

    with monkeypatch.context() as patch:
        patch.setattr(Server, "receive", heard)
        yield


@pytest.mark.parametrize("at_once", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_sums_of_processes_survive_whoever_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.chdir(Path(__file__).parents[2])
    doomed = tmp_path / "doomed"
    doomed.write_text("")
    rows = {f"p{i}": 8 << i for i in range(5 * at_once)}
    files = {name: tmp_path / f"{name}.csv" for name in rows}
    for name, path in files.items():
        path.write_text("x0\n" + "0.5\n" * rows[name])
    with local_parties(files, SCHEMA, BUDGET, threshold=3 * at_once + 1, packages=("tests",)) as parties:
        story = Story(parties, rows, doomed)
        assert story.total() == story.without()
        story.check_accounts()

        the_dead_are_left_out_and_have_paid(story)
        who_is_started_again_takes_part_again_but_not_in_an_old_round(story, monkeypatch)
        vectors_that_had_arrived_count(story, monkeypatch)
        too_few_is_an_error_and_no_sum(story, monkeypatch)


def the_dead_are_left_out_and_have_paid(story: Story) -> None:
    """Killed while they added up: their charges were made before, and are not lost."""
    dead = story.group(0)
    story.doomed.write_text(" ".join(str(story.parties[name].process.pid) for name in dead))
    assert story.total() == story.without(*dead)
    story.check_accounts()
    assert story.total() == story.without(*dead)
    story.check_accounts(*dead)


def who_is_started_again_takes_part_again_but_not_in_an_old_round(
    story: Story, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The new process has forgotten the rounds of the old one; its ledger has not."""
    story.restart(*story.group(0))
    with monkeypatch.context() as patch:
        patch.setattr("discreet.trust.secure_sum.secrets.token_hex", lambda _: "a round of its own")
        assert story.total() == story.without()
        story.check_accounts()
        story.restart("p0")
        trust = story.parties.trust
        addresses = [one.address for one in story.parties.values()]
        with (
            SecureSum(trust.federation, trust._identity, addresses) as other,
            pytest.raises(TooFewSurvivors, match="it was run already") as refused,
        ):
            story.total(other)
        assert "'a round of its own': 1 parties are left at the step of keys" in str(refused.value)
        story.check_accounts(*story.rows)


def vectors_that_had_arrived_count(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = story.group(1)
    with killed_after(story, monkeypatch, "masked", *dead):
        assert story.total() == story.without()
    story.check_accounts()
    assert story.total() == story.without(*dead)
    story.check_accounts(*dead)


def too_few_is_an_error_and_no_sum(story: Story, monkeypatch: pytest.MonkeyPatch) -> None:
    dead = story.group(2)
    with killed_after(story, monkeypatch, "shares", *dead), pytest.raises(TooFewSurvivors) as few:
        story.total()
    left = 3 * len(dead)
    assert f"{left} parties are left at the step of masked and {left + 1} are needed" in str(few.value)
    assert "Nothing was opened" in str(few.value)
    for name in dead:
        assert f"{name}: the line to {name} is broken" in str(few.value)


def test_a_party_that_cannot_start_says_why(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "raise SystemExit('nowhere.csv: it is not there')"]
    party = LocalParty("north", command, tmp_path / "ledger", tmp_path / "log")
    with pytest.raises(DiscreetError, match=r"north did not start \(nowhere\.csv: it is not there\)"):
        party.wait()
    party.kill()


@pytest.mark.slow
def test_processes_decrypt_their_sum_with_shares_of_one_key(tmp_path: Path) -> None:
    files = {name: tmp_path / f"{name}.csv" for name in ("north", "east", "west")}
    for path in files.values():
        path.write_text("x0\n" + "0.5\n" * 64)
    with local_parties(files, SCHEMA, BUDGET, threshold=2, scheme="paillier") as parties:
        found = parties.trust.ask(count_of(SCHEMA, "x0"), NOISE)[0]
        assert parties.trust.federation.protocol.held.public.key_bits == 2048  # type: ignore[attr-defined]
    assert abs(found - 192) < 8
