"""The options of `discreet attack`."""

from __future__ import annotations

from typing import Any

from discreet.service.cli.later import later
from discreet.service.cli.tables.table_arguments import add_form

DESCRIPTION = (
    "Runs every attack that applies to a model or a table before it is given away, and writes a page for its owner. The"
    " page is NOT PRIVATE: it is computed with the records at hand. Files are data: a pickle is opened only with"
    " --trust-pickle, since opening it runs its code."
)


def add_attack(commands: Any) -> None:
    """What an adversary can do with a model or a table."""
    command = commands.add_parser(
        "attack",
        help="what an adversary could do with a model or a table, for its owner: NOT PRIVATE",
        description=DESCRIPTION,
    )
    command.add_argument(
        "file", nargs="?", metavar="FILE", help="a model (.joblib, .onnx, .safetensors, .pt, .pkl) or a table"
    )
    add_form(command)
    command.add_argument("--members", metavar="FILE", help="for a model: the records that it was trained on")
    command.add_argument("--others", metavar="FILE", help="records like them, of people who are not among them")
    command.add_argument("--target", metavar="COLUMN", help="the labels (default: the column that the model lacks)")
    command.add_argument("--original", metavar="FILE", help="for a table: the records that it was made of")
    command.add_argument("--schema", metavar="SCHEMA", help="for a table: what is public about it")
    command.add_argument("--receipt", metavar="RECEIPT", help="the JSON of the release's receipt, or of its result")
    command.add_argument("--level", type=float, default=0.01, metavar="X", help="false accusations (default: 0.01)")
    command.add_argument(
        "--references", type=int, default=16, metavar="N", help="models like it to train (default: 16; 0: none)"
    )
    command.add_argument("--activation", metavar="A", help="between layers of a file of weights: relu, tanh, ...")
    command.add_argument("--trust-pickle", action="store_true", help="open pickles, which runs the code in them")
    command.add_argument("--demo", action="store_true", help="attack two made-up models, one of them private")
    command.add_argument("--out", default="attack.html", metavar="PAGE", help="the page (default: attack.html)")
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    command.set_defaults(run=later("attack_command", "attack"))
