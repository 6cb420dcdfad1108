"""Whatever records, headers, purposes and names say, no text form rewrites a terminal or forges a line."""

from __future__ import annotations

import ast
import inspect
import io
import json
import re
import urllib.request
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import discreet
from discreet.attacks import AttackReport, AttackResult, ThreatModel
from discreet.attacks.report.attack_report import RunAttack
from discreet.audit.audit_report import AuditFinding, AuditReport
from discreet.core.budget import Budget
from discreet.core.condition import Condition
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.events import NoPromise, PureLoss
from discreet.core.ledger import Reservation
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import Participants, Receipt
from discreet.deep.checks.check import Checked
from discreet.deep.fair.sensitive_attribute import SensitiveAttribute
from discreet.learners.trees.grown_tree import GrownTree
from discreet.ledger.account import AccountPart
from discreet.ledger.ledger_view import show
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.local import wire_client
from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
from discreet.local.protocol import published
from discreet.microdata.anonymity.check_anonymity import AnonymityReport, ColumnRisk, SensitiveFigures
from discreet.query.chart import Bar
from discreet.query.select.explanation import Explanation
from discreet.query.select.lost_groups import LostGroups
from discreet.query.select.stated_errors import StatedErrors
from discreet.releases.declaration import declaration_of
from discreet.releases.privacy_card import PrivacyCard
from discreet.releases.release import Release
from discreet.releases.signed_card import SignedCard
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.service.cli.command import main
from discreet.trust.curator import Curator
from discreet.trust.moving_table import MovingTable
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.frame import Frame
from tests.conformance.walk import for_each, public_classes, reasons, rooms, statistics
from tests.statistics.trial import trial_of

HOSTILE = "a\x1b[2J\x07\r\nFORGED: epsilon 0, delta 0\x9b\u202e\u2028\x00"
NAMES = {"x": f"x{HOSTILE}", "y": f"y{HOSTILE}", "kind": f"kind{HOSTILE}", "name": f"name{HOSTILE}"}
KINDS = tuple(f"{letter}{HOSTILE}" for letter in "abc")


def forms(shown: Any) -> Iterator[str]:
    """Every form of something that is text."""
    yield from (str(shown), repr(shown))
    for form in ("_repr_html_", "to_html"):
        if hasattr(shown, form):
            yield getattr(shown, form)()
    for part in ("title", "asked"):
        assert isinstance(getattr(shown, part, ""), str)


def check(shown: Any) -> None:
    for text in forms(shown):
        lines = text.split("\n")
        assert not [line for line in lines if line.lstrip().startswith("FORGED")], text
        assert not [line for line in lines if not line.isprintable()], ascii(text)


def private() -> PrivateData:
    rng = np.random.default_rng(0)
    schema = Schema(
        {
            NAMES["x"]: Number(-20, 20),
            NAMES["y"]: Number(-20, 20),
            NAMES["kind"]: Category(KINDS),
            NAMES["name"]: Text(),
        }
    )
    columns = {name: rng.uniform(-20, 20, 600) for name in (NAMES["x"], NAMES["y"])}
    texts = {NAMES["kind"]: [*KINDS] * 200, NAMES["name"]: [HOSTILE] * 600}
    ledger = MemoryLedger(Budget(1e6, 1e-5), Neighbors.ADD_REMOVE, Unit(), name=HOSTILE)
    return PrivateData(Curator(Frame({**columns, **texts}, schema)), ledger)


def renamed(value: Any) -> Any:
    """A parameter of the other walk, for these columns."""
    match value:
        case str():
            return NAMES.get(value, KINDS["abc".index(value)] if value in ("a", "b", "c") else value)
        case tuple():
            return tuple(map(renamed, value))
        case _:
            return value


@pytest.mark.parametrize("function", [one for one in statistics() if not trial_of(one).elsewhere])
def test_no_statistic_prints_what_records_or_headers_say_raw(function: Any) -> None:
    usual = trial_of(function).given(declaration_of(function))
    asked = {name: renamed(value) for name, value in usual.items()} | {"epsilon": 50.0, "delta": 1e-6}
    data = private()
    condition = f"`{NAMES['x']}` > -30"
    for held in (data, data.where(condition)):
        try:
            found = function(held, **asked)
        except DiscreetError as refusal:
            check(refusal)
        else:
            check(found)
            check(found.receipt)
        check(held)
    check(data.ledger)
    check(data.schema)


def test_most_statistics_answer_here() -> None:
    """So that the walk above looks at answers."""
    check(found := discreet.key_counts(private(), NAMES["name"], epsilon=50.0, delta=1e-6))
    assert "FORGED" in str(found)
    check(discreet.contingency(private(), [NAMES["kind"]], epsilon=50.0))
    check(discreet.mean(private(), NAMES["x"], by=NAMES["kind"], epsilon=50.0))


def test_receipts_ledgers_errors_and_trees_are_plain(tmp_path: Path) -> None:
    parties = Participants((HOSTILE, "b"), (HOSTILE,))
    check(
        Receipt(
            HOSTILE, PureLoss(1.0), 1.0, 0.0, Neighbors.REPLACE, Unit(), True, HOSTILE, HOSTILE, False, parties, HOSTILE
        )
    )
    with SqliteLedger.create(
        tmp_path / "l", Budget(3.0), name=HOSTILE, neighbors=Neighbors.REPLACE, analysts={HOSTILE: Budget(1.0)}
    ) as ledger:
        for event, waiver in ((PureLoss(0.5), None), (NoPromise(HOSTILE), HOSTILE)):
            charge = ledger.reserve(event, HOSTILE, request="q", analyst=HOSTILE, waiver=waiver)
            assert isinstance(charge, Reservation)
        check(ledger)
        for line in show(tmp_path / "l").split("\n"):
            assert line.isprintable()
            assert not line.lstrip().startswith("FORGED")
    refusal = ParameterError("\x1b[2Jasked", "a\x07b", "\x9bremedy")
    assert all(line.isprintable() for line in str(refusal).split("\n"))
    check(GrownTree(np.array([0]), np.array([0.5]), np.array(KINDS[:2]), (HOSTILE,)))
    check(parties)
    check(SensitiveAttribute([HOSTILE], (HOSTILE, "b"), Budget(1.0), name=HOSTILE))
    check(Bar(HOSTILE, 1.0, 0.5))
    check(LostGroups(40, {HOSTILE: 0.5}))
    check(StatedErrors(1.0, {HOSTILE: 0.5}))
    check(Explanation(((0, HOSTILE, HOSTILE),), ((HOSTILE, HOSTILE, HOSTILE),)))
    check(AccountPart("table", HOSTILE))
    seen = AuditFinding(HOSTILE, HOSTILE, 1.0, 2.0, HOSTILE)
    check(AuditReport(HOSTILE, PureLoss(1.0), (seen,), 0.9, 1, 1, 1.0, {HOSTILE: HOSTILE}, warnings=(HOSTILE,)))
    threat = ThreatModel(HOSTILE, HOSTILE, HOSTILE)
    found = AttackResult(HOSTILE, threat, HOSTILE, 1, 2, 0.5, 1.0, 2, details={HOSTILE: 1}, warnings=(HOSTILE,))
    check(found)
    texts = {HOSTILE: HOSTILE}
    check(AttackReport(HOSTILE, texts, (RunAttack(found, HOSTILE, HOSTILE),), texts, (HOSTILE,), (HOSTILE,)))
    check(Checked((HOSTILE,), (HOSTILE,)))
    card = PrivacyCard(
        about=HOSTILE,
        kind="model",
        event=NoPromise(HOSTILE),
        epsilon=1.0,
        delta=0.0,
        neighbors=Neighbors.REPLACE,
        unit=Unit("user", column=HOSTILE, rows=2),
        secret=False,
        key=HOSTILE,
        head=HOSTILE,
        public={HOSTILE: HOSTILE},
        facts={HOSTILE: HOSTILE},
        versions={HOSTILE: HOSTILE},
    )
    check(card)
    check(SignedCard(card, HOSTILE, b""))
    check(MovingTable(np.zeros((2, 1)), 1.0, Budget(1.0), columns=[HOSTILE]))
    risks, spread = (ColumnRisk(HOSTILE, 1, 1, 1.0),), (SensitiveFigures(HOSTILE, 1, 1.0, 1.0, 0.5, False),)
    check(AnonymityReport(2, 1, 1, 1, spread, risks, (HOSTILE,)))
    check(discreet.plan(Schema({HOSTILE: Number(0, 1)}), partial(discreet.mean, column=HOSTILE), n=100, epsilon=1.0))


TEXTS = re.compile(r"\b(str|Any|object|Mapping|dict|Sequence|Path|Column|Schema|Condition)\b")


def own_forms() -> list[type[Any]]:
    """The classes that say themselves how they are printed; those that a dataclass makes quote all texts."""
    found = []
    for kind in (kind for room in rooms() for kind in public_classes(room)):
        written = [vars(kind).get(name) for name in ("__str__", "__repr__", "_repr_html_", "to_html")]
        files = [one.__code__.co_filename for one in written if inspect.isfunction(one)]
        found += [kind] if any("discreet" in file for file in files) else []
    return found


def holds_texts(kind: type[Any]) -> bool:
    """Whether anything that it is made of may be a text; a condition is read again, and shown by what has it."""
    kept = [vars(base).get("__annotations__", {}) for base in kind.__mro__ if base.__module__.startswith("discreet.")]
    annotations = [str(one) for own in kept for one in own.values() if not str(one).startswith("ClassVar")]
    if issubclass(kind, dict):
        return True
    annotations += [str(one.annotation) for one in inspect.signature(kind).parameters.values()]
    return kind.__module__ != Condition.__module__ and any(TEXTS.search(one) for one in annotations)


def looked_at(kind: type[Any]) -> bool:
    """Whether a test of this file makes one, or one that derives from it; statistics are walked above."""
    return issubclass(kind, Release) or any(
        inspect.isclass(one) and issubclass(one, kind) and f"{name}(" in HERE.replace(".create(", "(")
        for name, one in globals().items()
    )


def words_alone(kind: type[Any]) -> str:
    """Why the test file of a class says that its texts are words of the library."""
    return reasons(kind, "PLAIN").get(kind.__name__, "")


@for_each(own_forms())
def test_whoever_prints_texts_is_looked_at(kind: type[Any]) -> None:
    """Or holds numbers alone, or says in its test file, with PLAIN, why its texts are the library's own."""
    assert not holds_texts(kind) or looked_at(kind) or words_alone(kind), "look at it here, or say why not with PLAIN"


HERE = Path(__file__).read_text()


def test_no_command_prints_what_records_say_raw(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    quoted = HOSTILE.replace("\x00", "")
    Path("p.csv").write_text("name,age\n" + f'"{quoted}",3\n' * 400, newline="")
    column = '[columns.name]\nkind = "text"\n[columns.age]\nkind = "number"\nlower = 0\nupper = 9\n'
    Path("s.toml").write_text(column)
    price = ["--epsilon", "20", "--delta", "1e-6"]
    create = ["ledger", "create", "l", "--schema", "s.toml", "--epsilon", "90", "--delta", "1e-4"]
    ask = ["ask", "p.csv", "key_counts", "name", "--schema", "s.toml", *price, "--ledger", "l"]
    table = ["p.csv", "--schema", "s.toml", "--ledger", "l"]
    Path("r.toml").write_text('name = "identifying"\nage = "quasi-identifier"')
    for argv in (
        create,
        [*ask, "--key", quoted],
        ["report", "p.csv", "--schema", "s.toml", *price, "--ledger", "l"],
        ["synthesize", *table, *price, "--out", f"{quoted}.csv", "--key", f"t{quoted}"],
        ["anonymize", *table, "--roles", "r.toml", "--k", "2", "--out", f"{quoted}.csv", "--waiver", quoted],
        ["check", f"{quoted}.csv", "--roles", "r.toml", "--html", f"{quoted}.html"],
        ["check", "p.csv", "--roles", quoted],
        ["ledger", "admit", "l", "--analyst", quoted, "--epsilon", "1"],
        ["ledger", "expire", "l", "--analyst", quoted, "--reason", quoted],
        ["ledger", "show", "l"],
        ["ledger", "show", "l", "--analyst", quoted],
        ["ask", "p.csv", quoted, "--schema", quoted, "--epsilon", "1"],
    ):
        main(argv)
        said = "".join(capsys.readouterr())
        assert said
        for line in said.split("\n"):
            assert line.isprintable(), (argv, ascii(line))
            assert not line.lstrip().startswith("FORGED"), argv


SAYS = {
    "local/wire_client.py": "what is printable of a collector's answer",
    "service/aggregator/aggregator_server.py": "plain lines",
    "service/bounded_http.py": "how an error is written in Python, in which texts are quoted",
    "service/cli/command.py": "refusals without control characters",
    "service/cli/private_file.py": "words of the library",
    "service/cli/report_command.py": "words of the library",
    "service/cli/saying.py": "plain lines: all that commands say",
    "service/cli/sites/serve_command.py": "users of a site that is made up here, and their keys",
    "service/console/console.py": "the name of an error's class",
    "service/server/site_application.py": "the name of an error's class",
}
"""What prints, and why no text of others is in it as it came."""


def prints(call: ast.Call) -> bool:
    """Whether it is `print`, or writes to what every process has."""
    name = ast.unparse(call.func)
    return name == "print" or name.endswith(("stdout.write", "stderr.write", "stdout.writelines", "stderr.writelines"))


def test_nothing_is_printed_but_where_it_is_made_plain() -> None:
    source, found = Path(discreet.__file__).parent, set()
    for path in sorted(source.rglob("*.py")):
        text = path.read_text()
        likely = "print(" in text or ".write(" in text
        nodes = ast.walk(ast.parse(text)) if likely else ()
        if any(isinstance(one, ast.Call) and prints(one) for one in nodes):
            found.add(path.relative_to(source).as_posix())
    assert found == set(SAYS), "let `saying.put` print it, or say why it is plain"


def test_what_a_collector_answers_is_printed_without_control_characters(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    survey = json.dumps(published(GeneralizedRandomizedResponse(1.0, 3))).encode()
    answers = iter([io.BytesIO(survey), io.BytesIO(f"{HOSTILE}\xff".encode() + b"\xff")])
    monkeypatch.setattr(urllib.request, "urlopen", lambda *_, **__: next(answers))
    wire_client.main("http://127.0.0.1:1", "1")
    said = capsys.readouterr().out.removesuffix("\n")
    assert said.startswith("a?[2J??")
    assert said.isprintable()


def test_json_is_escaped_and_true() -> None:
    """What is not for terminals is as it was."""
    found = discreet.key_counts(private(), NAMES["name"], epsilon=50.0, delta=1e-6)
    assert found.to_json().isprintable()
    (values,) = json.loads(found.to_json())["labels"].values()
    assert "\r\nFORGED" in values[0]
