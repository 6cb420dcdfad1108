"""What `discreet match` understands; the work is in `match_command` and others, loaded when they are run."""

from __future__ import annotations

from typing import Any

from discreet.service.cli.later import later


def add_match(commands: Any) -> None:
    """Add the command and its actions."""
    match = commands.add_parser("match", help="compare templates, as of faces, while they are encrypted")
    actions = match.add_subparsers(required=True, metavar="ACTION", parser_class=type(match))
    _add_key(actions)
    _add_plan(actions)
    _add_reduce(actions)
    _add_enrol(actions)
    _add_ledger(actions)
    _add_serve(actions)
    _add_judge(actions)
    _add_ask(actions)


def _action(actions: Any, name: str, what: str, function: str) -> Any:
    action = actions.add_parser(name, help=what)
    action.add_argument("--json", action="store_true", help="print JSON instead of text")
    action.set_defaults(run=later("matching.match_command", function))
    return action


def _add_key(actions: Any) -> None:
    key = _action(actions, "key", "draw the key of a gallery", "key")
    key.add_argument("--dimensions", type=int, required=True, metavar="N", help="how many numbers a template has")
    key.add_argument("--scheme", default="ckks", help="ckks (default); or bfv, exact on 8-bit values and slower")
    key.add_argument("--out", required=True, metavar="KEY", help="the secret key: for whoever reads scores")
    key.add_argument("--public", required=True, metavar="PUBLIC", help="for the gallery's keeper, and whoever asks")
    key.add_argument("--passphrase", action="store_true", help="cover the key; asks, or takes DISCREET_PASSPHRASE")


def _add_plan(actions: Any) -> None:
    plan = _action(actions, "plan", "what a gallery and a query would take: ciphertexts, bytes, seconds", "plan")
    plan.add_argument("--dimensions", type=int, required=True, metavar="N", help="how many numbers a template has")
    plan.add_argument("--scheme", default="ckks", help="ckks (default) or bfv")
    plan.add_argument("--templates", type=int, required=True, metavar="N", help="how many there are")


def _add_reduce(actions: Any) -> None:
    reduce = _action(actions, "reduce", "learn to reduce templates, on public vectors: never on a gallery", "reduce")
    reduce.add_argument("vectors", metavar="VECTORS", help="a .npy file, a template of somebody else in each row")
    reduce.add_argument("--dimensions", type=int, required=True, metavar="N", help="how many numbers are left")
    reduce.add_argument("--learned-on", required=True, metavar="WORDS", help="where the vectors are from")
    reduce.add_argument("--out", required=True, metavar="REDUCTION")


def _add_enrol(actions: Any) -> None:
    enrol = _action(actions, "enrol", "encrypt a batch of templates into a gallery; a new one is made", "enrol")
    enrol.add_argument("gallery", metavar="GALLERY", help="the file: for its keeper")
    enrol.add_argument("--templates", required=True, metavar="FILE", help="a .npy file, a template in each row")
    enrol.add_argument("--names", required=True, metavar="FILE", help="a name in each line")
    enrol.add_argument("--key", required=True, metavar="KEY", help="see: discreet match key")
    enrol.add_argument("--register", required=True, metavar="REGISTER", help="the names: for whoever reads scores")
    enrol.add_argument("--reduction", metavar="REDUCTION", help="see: discreet match reduce")


def _add_ledger(actions: Any) -> None:
    ledger = _action(actions, "ledger", "open the account in which answers are counted; it has no epsilon", "ledger")
    ledger.add_argument("ledger", metavar="LEDGER")


def _add_serve(actions: Any) -> None:
    serve = _action(actions, "serve", "keep a gallery and answer queries, reading nothing", "serve")
    serve.add_argument("gallery", metavar="GALLERY", help="see: discreet match enrol")
    serve.add_argument("--public", required=True, metavar="PUBLIC", help="the public part of its key")
    resident = "how many blocks stay in memory (default: all); see: discreet match plan"
    serve.add_argument("--resident", type=int, metavar="N", help=resident)
    _add_service(serve)


def _add_judge(actions: Any) -> None:
    judge = _action(actions, "judge", "have the key, and tell askers yes or no", "judge")
    judge.add_argument("--key", required=True, metavar="KEY", help="see: discreet match key")
    judge.add_argument("--keeper", required=True, metavar="CARD", help="of whoever keeps the gallery")
    judge.add_argument("--threshold", type=float, required=True, metavar="T", help="from which score on they match")
    judge.add_argument("--register", metavar="REGISTER", help="refuses answers about less than was enrolled")
    _add_service(judge)


def _add_service(service: Any) -> None:
    service.add_argument("--identity", required=True, metavar="NAME.key", help="see: discreet identity")
    service.add_argument("--asker", required=True, action="append", metavar="CARD", help="of who may ask; for each")
    service.add_argument("--ledger", required=True, metavar="LEDGER", help="see: discreet match ledger")
    waiver = "why answers are given without a promise; goes on record"
    service.add_argument("--waiver", required=True, metavar="WHY", help=waiver)
    service.add_argument("--most", type=int, required=True, metavar="N", help="how many answers an asker gets, ever")
    service.add_argument("--daily", type=int, metavar="N", help="how many on a day (UTC)")
    service.add_argument("--listen", required=True, metavar="HOST:PORT")


def _add_ask(actions: Any) -> None:
    ask = _action(actions, "ask", "look for a template in a gallery", "ask")
    ask.add_argument("template", metavar="FILE", help="a .npy file with one template")
    ask.add_argument("--identity", required=True, metavar="NAME.key", help="see: discreet identity")
    ask.add_argument("--keeper", required=True, metavar="CARD", help="of whoever keeps the gallery")
    ask.add_argument("--at", required=True, metavar="HOST:PORT", help="where the keeper listens")
    ask.add_argument("--reduction", metavar="REDUCTION", help="that of the gallery's templates")
    role = ask.add_mutually_exclusive_group(required=True)
    role.add_argument("--key", metavar="KEY", help="the secret key: names are printed; takes --register, --threshold")
    role.add_argument("--public", metavar="PUBLIC", help="without the key: yes or no; takes --judge and --judge-at")
    ask.add_argument("--register", metavar="REGISTER", help="whose templates they are")
    ask.add_argument("--threshold", type=float, metavar="T", help="from which score on two templates match")
    confirm = "fetch what the best match was enrolled as, and compute its score again: another answer"
    ask.add_argument("--confirm", action="store_true", help=confirm)
    ask.add_argument("--judge", metavar="CARD", help="of whoever has the key")
    ask.add_argument("--judge-at", metavar="HOST:PORT", help="where the judge listens")
    only = ask.add_mutually_exclusive_group()
    only.add_argument("--name", metavar="NAME", help="is it this person? with --key")
    only.add_argument("--number", type=int, metavar="N", help="is it the template of this number?")
