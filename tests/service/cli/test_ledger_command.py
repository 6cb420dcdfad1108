"""Administration on the command line: caps, strangers, reasons, exports and receipts, and the exit codes."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet import mean
from discreet.core.errors import ParameterError
from discreet.core.events import NoPromise, PureLoss
from discreet.core.ledger import Reservation
from discreet.core.neighbors import Neighbors
from discreet.core.receipt import Receipt
from discreet.ledger.chain import BEFORE_ALL, seal
from discreet.ledger.ledger_view import show
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Number, Schema
from discreet.service.cli.command import main, parser
from discreet.trust.curator import Curator
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame

Out = pytest.CaptureFixture[str]
SCHEMA = '[columns.age]\nkind = "number"\nlower = 0\nupper = 100\n'


@pytest.fixture
def ledger(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Out) -> str:
    """A ledger of epsilon 2 and delta 1e-6, in the folder where the commands run."""
    monkeypatch.chdir(tmp_path)
    Path("s.toml").write_text(SCHEMA)
    Path("people.csv").write_text("age\n" + "\n".join(str(20 + i % 60) for i in range(300)) + "\n")
    assert main(["ledger", "create", "l", "--schema", "s.toml", "--epsilon", "2", "--delta", "1e-6", "--json"]) == 0
    with SqliteLedger.open("l") as opened:
        assert json.loads(capsys.readouterr().out)["head"] == opened.head
    return "l"


def told(capsys: Out, *argv: str) -> Any:
    """The JSON that a command prints."""
    assert main([*argv, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def refused(capsys: Out, *argv: str, code: int) -> str:
    assert main(argv) == code
    out, err = capsys.readouterr()
    assert out == ""
    return err


REPORT = ("report", "people.csv", "--schema", "s.toml", "--epsilon", "0.5", "--ledger", "l")


def test_caps_of_analysts_hold_and_strangers_are_refused(ledger: str, capsys: Out) -> None:
    told(capsys, "ledger", "admit", "l", "--analyst", "ann", "--epsilon", "0.75")
    assert "nobody is named" in refused(capsys, *REPORT, code=5)
    assert "zoe has no account" in refused(capsys, *REPORT, "--analyst", "zoe", code=5)
    assert 0.45 < told(capsys, *REPORT, "--analyst", "ann")["receipt"]["epsilon"] <= 0.5  # at the account's delta
    assert "account of ann" in refused(capsys, *REPORT, "--analyst", "ann", code=3)
    shown = told(capsys, "ledger", "show", "l", "--analyst", "ann")
    assert [account["analyst"] for account in shown["accounts"]] == ["ann"]
    assert [charge["analyst"] for charge in shown["charges"]] == ["ann"]
    assert "zoe" in refused(capsys, "ledger", "show", "l", "--analyst", "zoe", code=5)
    assert "Give --ledger" in refused(capsys, *REPORT[:-2], "--analyst", "ann", code=2)
    ask = ("ask", "people.csv", "mean", "age", "--schema", "s.toml", "--epsilon", "0.125", "--ledger", "l")
    assert "zoe has no account" in refused(capsys, *ask, "--analyst", "zoe", code=5)
    assert told(capsys, *ask, "--analyst", "ann")["receipt"]["epsilon"] == pytest.approx(0.125)


def test_a_raise_needs_a_reason_and_is_on_record(ledger: str, capsys: Out) -> None:
    assert "--reason" in refused(capsys, "ledger", "raise", "l", "--epsilon", "3", code=2)
    assert "reason is empty" in refused(capsys, "ledger", "raise", "l", "--epsilon", "3", "--reason", "", code=2)
    assert "never lowered" in refused(capsys, "ledger", "raise", "l", "--epsilon", "1", "--reason", "no", code=2)
    told(capsys, "ledger", "raise", "l", "--epsilon", "3", "--reason", "a second wave")
    shown = told(capsys, "ledger", "show", "l")
    (done,) = shown["administration"]
    assert (done["kind"], done["epsilon"], done["delta"], done["reason"]) == ("raise", 3.0, 1e-6, "a second wave")
    assert shown["accounts"][0]["epsilon"] == 3.0
    assert main(["ledger", "show", "l"]) == 0
    assert "raise data set epsilon 3, delta 1e-06 (a second wave)" in capsys.readouterr().out


def test_an_expired_account_pays_nothing(ledger: str, capsys: Out) -> None:
    told(capsys, "ledger", "admit", "l", "--analyst", "ann", "--epsilon", "1")
    told(capsys, "ledger", "expire", "l", "--analyst", "ann", "--reason", "left")
    assert "has expired (left)" in refused(capsys, *REPORT, "--analyst", "ann", code=5)
    assert told(capsys, "ledger", "show", "l")["accounts"][1]["expired"] == "left"
    assert main(["ledger", "show", "l", "--analyst", "ann"]) == 0
    assert "expired: left" in capsys.readouterr().out


def test_an_export_can_be_checked_without_the_library(ledger: str, capsys: Out) -> None:
    told(capsys, *REPORT)
    told(capsys, "ledger", "export", "l", "--out", "all.jsonl")
    before = BEFORE_ALL
    for line in Path("all.jsonl").read_text().splitlines():
        entry = json.loads(line)
        assert seal(before, entry["body"]) == entry["hash"]
        before = entry["hash"]
    assert before == told(capsys, "ledger", "verify", "l")["head"]
    assert main(["ledger", "export", "l"]) == 0
    assert capsys.readouterr().out == Path("all.jsonl").read_text()
    assert "needed as it is" in refused(capsys, "ledger", "export", "l", "--out", "l", code=2)


def test_a_receipt_is_verified_against_its_ledger_alone(ledger: str, capsys: Out) -> None:
    assert main([*REPORT, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    Path("r.json").write_text(json.dumps(report))
    assert told(capsys, "receipt", "verify", "r.json", "--ledger", "l")["key"] == report["receipt"]["key"]
    for name, other, fault in (
        ("key", "k", "no charge with the key k"),
        ("epsilon", 0.25, "another price"),
        ("purpose", "nothing", "another purpose"),
        ("neighbors", Neighbors.REPLACE.value, "another relation"),
        ("head", report["receipt"]["head"][::-1], "another head"),
    ):
        Path("f.json").write_text(json.dumps(report["receipt"] | {name: other}))
        assert fault in refused(capsys, "receipt", "verify", "f.json", "--ledger", "l", code=4)
    Path("g.json").write_text("[]")
    assert "not the JSON" in refused(capsys, "receipt", "verify", "g.json", "--ledger", "l", code=2)


def forged(value: Any) -> Any:
    """Something else of the same kind."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case None:
            return "age > 3"
        case _:
            return value


def test_whatever_a_receipt_states_is_bound_in_the_ledger_or_named_as_not_checked(ledger: str, capsys: Out) -> None:
    """Each field of a receipt, and each of what lies beside it, is forged in turn."""
    report = told(capsys, *REPORT)
    own = {"event": {"kind": "pure", "epsilon": 9.0}, "unit": {"kind": "user", "column": "age"}}
    own |= {"neighbors": "replace", "participants": {"parties": ["a", "b"], "apart": []}}
    for name, value in report["receipt"].items():
        other = own.get(name, forged(value))
        assert other != value, name
        Path("f.json").write_text(json.dumps(report | {"receipt": report["receipt"] | {name: other}}))
        code = main(["receipt", "verify", "f.json", "--ledger", "l", "--json"])
        said = capsys.readouterr().out
        assert code in (2, 4) or name in json.loads(said)["unchecked"], name
    Path("f.json").write_text(json.dumps(report))
    found = told(capsys, "receipt", "verify", "f.json", "--ledger", "l")
    assert {*report} - {"receipt"} <= {*found["unchecked"]}
    assert "secret" not in found["unchecked"]
    assert main(["receipt", "verify", "f.json", "--ledger", "l"]) == 0
    assert "Not checked: " in capsys.readouterr().out


def test_a_receipt_of_an_older_ledger_is_verified_and_says_what_the_ledger_was_not_told(
    ledger: str, capsys: Out
) -> None:
    with SqliteLedger.open("l") as opened:
        unit = opened.unit
        paid = opened.reserve(PureLoss(0.5), "count", request="q", key="k")
        assert isinstance(paid, Reservation)
        done = opened.commit(paid, b"")
        waived = opened.reserve(NoPromise("swapping"), "swap", request="q", key="w", waiver="they asked for it")
        assert isinstance(waived, Reservation)
        swapped = opened.commit(waived, b"")
    assert unit is not None
    receipt = Receipt("count", PureLoss(0.5), 0.5, 0.0, Neighbors.ADD_REMOVE, unit, True, "k", done.head)
    Path("r.json").write_text(receipt.to_json())
    assert {"secret", "where", "participants"} <= {
        *told(capsys, "receipt", "verify", "r.json", "--ledger", "l")["unchecked"]
    }
    dear = Receipt("swap", NoPromise("swapping"), math.inf, 0.0, Neighbors.ADD_REMOVE, unit, True, "w", swapped.head)
    Path("r.json").write_text(dear.to_json())
    told(capsys, "receipt", "verify", "r.json", "--ledger", "l")
    Path("r.json").write_text(dataclasses.replace(dear, epsilon=0.1).to_json())
    assert "another price" in refused(capsys, "receipt", "verify", "r.json", "--ledger", "l", code=4)


def test_a_charge_for_a_release_from_known_bits_says_so_in_the_chain(ledger: str, capsys: Out) -> None:
    with SqliteLedger.open("l") as opened:
        source = Frame({"age": np.arange(100.0)}, Schema({"age": Number(0, 100)}))
        data = PrivateData(Curator(source, bits=DeterministicBits(0)), opened)
        receipt = mean(data, "age", epsilon=0.5, key="k").receipt
        assert not opened.entries()[0].secret
        assert '"secret":false' in opened.chain()[1].body
        again = PrivateData(Curator(source), opened)
        assert mean(again, "age", epsilon=0.5, key="k").receipt == dataclasses.replace(receipt, replayed=True)
    assert "NOT PRIVATE" in show("l")
    Path("r.json").write_text(receipt.to_json())
    assert main(["receipt", "verify", "r.json", "--ledger", "l"]) == 0
    assert "known bits" in capsys.readouterr().out
    Path("r.json").write_text(dataclasses.replace(receipt, secret=True).to_json())
    assert "known bits" in refused(capsys, "receipt", "verify", "r.json", "--ledger", "l", code=4)


def test_a_charge_without_a_result_has_no_receipt(ledger: str, capsys: Out) -> None:
    with SqliteLedger.open("l") as opened:
        paid = opened.reserve(PureLoss(0.5), "count", request="q", key="k")
        unit = opened.unit
    assert unit is not None
    receipt = Receipt("count", PureLoss(0.5), 0.5, 0.0, Neighbors.ADD_REMOVE, unit, True, "k", paid.head)
    Path("r.json").write_text(receipt.to_json())
    assert "no result for it" in refused(capsys, "receipt", "verify", "r.json", "--ledger", "l", code=4)


def leaves(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """The parsers of all commands that do something."""
    below = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    for action in below:
        for each in action.choices.values():
            yield from leaves(each)
    if not below:
        yield parser


def test_every_command_speaks_json() -> None:
    found = list(leaves(parser()))
    assert len(found) > 15
    assert [leaf.prog for leaf in found if "--json" not in leaf.format_usage()] == []


def said_of(leaf: argparse.ArgumentParser, argv: list[str], option: argparse.Action) -> str:
    """The refusal of a command line, or the numbers that it gives an option."""
    try:
        given = getattr(leaf.parse_args(argv), option.dest)
        return str([float(value) for part in given for value in (part if isinstance(part, list) else [part])])
    except ParameterError as refusal:
        return str(refusal)


def with_values(option: argparse.Action, value: str) -> list[str]:
    """An option, with as many values as it takes."""
    return [option.option_strings[0], *[value] * (option.nargs if isinstance(option.nargs, int) else 1)]


def test_an_option_that_is_given_again_adds_up_or_is_refused() -> None:
    """Every option of every command that takes values, given twice, with all that the command needs besides."""
    tried = 0
    for leaf in leaves(parser()):
        options = [one for one in leaf._actions if one.option_strings and one.nargs != 0]
        exclusive = [one for group in leaf._mutually_exclusive_groups if group.required for one in group._group_actions]
        needed = [one for one in options if one.required]
        words = ["1" for one in leaf._actions if not one.option_strings and one.nargs not in ("*", "?")]
        for option in options:
            own = [*needed, *(() if option in exclusive else exclusive[:1]), *(() if option in needed else (option,))]
            once = [word for one in own for word in with_values(one, "1")]
            said = said_of(leaf, [*words, *once, *with_values(option, "2")], option)
            both = [*with_values(option, "1.0")[1:], *with_values(option, "2.0")[1:]]
            assert "it is given twice" in said or said == f"[{', '.join(both)}]", (leaf.prog, option.dest)
            tried += 1
    assert tried > 50


def test_the_help_states_the_exit_codes(capsys: Out) -> None:
    assert main(["--help"]) == 0
    assert "3 over budget" in " ".join(capsys.readouterr().out.split())
