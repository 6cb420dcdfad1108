"""The arguments of `discreet gelu`; what it does is imported when it is done."""

from __future__ import annotations

from typing import Any

from discreet.service.cli.later import later


def add_gelu(commands: Any) -> None:
    """Add the command and its actions."""
    gelu = commands.add_parser("gelu", help="a network on encrypted numbers: one side has the weights, one the data")
    actions = gelu.add_subparsers(required=True, metavar="ACTION", parser_class=type(gelu))
    _add_create(actions)
    _add_plan(actions)
    _add_serve(actions)
    _add_train(actions)
    _add_predict(actions)


def _add_create(actions: Any) -> None:
    create = actions.add_parser("create", help="write a network for all, and fresh weights for the server alone")
    create.add_argument("net", metavar="NET", help="where to write what all may know")
    create.add_argument("--weights", required=True, metavar="FILE", help="where to write the weights")
    create.add_argument(
        "--layers", required=True, type=int, nargs="+", metavar="N", help="such as 64 32 10; after images, 32 10"
    )
    create.add_argument(
        "--image", type=int, nargs=3, metavar=("C", "H", "W"), help="inputs are images: channels, height, width"
    )
    create.add_argument(
        "--convolution",
        type=int,
        nargs=3,
        action="append",
        default=[],
        metavar=("F", "SIDE", "STRIDE"),
        help="a layer on images: how many filters, of which side, how far apart; for each",
    )
    create.add_argument("--activation", default="gelu", metavar="A", help="gelu (default), relu, tanh or sigmoid")
    create.add_argument("--rate", type=float, default=0.2, metavar="R", help="of a step of descent (default: 0.2)")
    create.add_argument("--seed", type=int, metavar="S", help="of the weights to begin with")
    _add_json(create)
    create.set_defaults(run=later("gelu.gelu_command", "create"))


def _add_plan(actions: Any) -> None:
    plan = actions.add_parser("plan", help="ciphertexts, bytes and seconds, before anything is done")
    plan.add_argument("net", metavar="NET", help="what all may know")
    plan.add_argument("--records", required=True, type=int, metavar="N", help="how many there are")
    plan.add_argument("--epochs", type=int, metavar="N", help="of training; predictions where not given")
    plan.add_argument("--batch", type=int, default=32, metavar="N", help="records of a step (default: 32)")
    plan.add_argument("--update", default="masked", metavar="U", help="clear, masked (default) or noisy")
    _add_json(plan)
    plan.set_defaults(run=later("gelu.gelu_command", "plan"))


def _add_serve(actions: Any) -> None:
    serve = actions.add_parser("serve", help="answer clients, until stopped")
    serve.add_argument("weights", metavar="FILE", help="the weights; written again whenever they move")
    serve.add_argument("--identity", required=True, metavar="KEY", help="the server's secret key")
    serve.add_argument("--client", required=True, action="append", metavar="CARD", help="of who may ask; for each")
    serve.add_argument("--trainer", action="append", default=[], metavar="NAME", help="who may train; for each")
    serve.add_argument("--slots", required=True, type=int, metavar="N", help="how many records each client may ask")
    serve.add_argument("--counts", required=True, metavar="FILE", help="what was asked so far; made if missing")
    serve.add_argument("--listen", required=True, metavar="HOST:PORT", help="where to listen")
    _add_json(serve)
    serve.set_defaults(run=later("gelu.gelu_command", "serve"))


def _add_client(command: Any) -> None:
    command.add_argument("records", metavar="RECORDS", help="a CSV file with a header and a column for each input")
    command.add_argument("--net", required=True, metavar="NET", help="what all may know")
    command.add_argument("--identity", required=True, metavar="KEY", help="the client's secret key")
    command.add_argument("--server", required=True, metavar="CARD", help="of who has the weights")
    command.add_argument("--connect", required=True, metavar="HOST:PORT", help="where it listens")
    command.add_argument("--divide", type=float, default=1.0, metavar="X", help="inputs by this (default: 1)")
    command.add_argument(
        "--masks", metavar="FILE", help="of masked updates: secret, needed ever after, made if missing"
    )
    _add_json(command)


def _add_train(actions: Any) -> None:
    train = actions.add_parser("train", help="train the server's network on records whose last column is the class")
    _add_client(train)
    train.add_argument("--update", default="masked", metavar="U", help="clear, masked (default) or noisy")
    train.add_argument("--epochs", type=int, default=20, metavar="N", help="how often all records come (default: 20)")
    train.add_argument("--batch", type=int, default=32, metavar="N", help="records of a step (default: 32)")
    train.add_argument("--seed", type=int, metavar="S", help="of the order of records")
    train.add_argument("--ledger", metavar="LEDGER", help="the account that pays for noisy updates")
    train.add_argument("--epsilon", type=float, metavar="E", help="what noisy updates may cost together")
    train.add_argument("--delta", type=float, metavar="D", help="that goes with it")
    train.add_argument("--clip", type=float, default=1.0, metavar="C", help="the longest gradient of a record")
    train.add_argument("--subgroup", action="store_true", help="a faster key, under a further assumption")
    train.set_defaults(run=later("gelu.gelu_command", "train"))


def _add_predict(actions: Any) -> None:
    predict = actions.add_parser("predict", help="ask the server's network for the class of each record")
    _add_client(predict)
    predict.add_argument("--out", required=True, metavar="FILE", help="a CSV file with the column class")
    predict.add_argument("--key", metavar="FILE", help="of ciphertexts, for the next time too; made if missing")
    predict.set_defaults(run=later("gelu.gelu_command", "predict"))


def _add_json(command: Any) -> None:
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
