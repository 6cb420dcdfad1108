"""What `discreet rappor` understands; the work is in `rappor_command`, which is loaded when it is run."""

from __future__ import annotations

from typing import Any

from discreet.service.cli.later import later


def add_rappor(commands: Any) -> None:
    """Add the command and its actions."""
    rappor = commands.add_parser("rappor", help="reports of strings by RAPPOR, and their decoding")
    actions = rappor.add_subparsers(required=True, metavar="ACTION", parser_class=type(rappor))
    simulate = actions.add_parser("simulate", help="write values of made-up clients, candidates and parameters")
    simulate.add_argument("folder", metavar="FOLDER", help="where to write values.csv, candidates.txt and params.csv")
    simulate.add_argument("--clients", type=int, default=100_000, metavar="N", help="how many (default: 100000)")
    simulate.add_argument("--strings", type=int, default=100, metavar="N", help="how many occur (default: 100)")
    simulate.add_argument("--distribution", default="exp", metavar="D", help="exp, unif or zipf (default: exp)")
    simulate.add_argument("--seed", type=int, default=0, metavar="S", help="of the made-up values (default: 0)")
    simulate.add_argument("--json", action="store_true", help="print JSON instead of text")
    simulate.set_defaults(run=later("parties.rappor_command", "simulate"))
    encode = actions.add_parser("encode", help="turn values of clients into reports, as their devices would")
    encode.add_argument("values", metavar="VALUES", help="a CSV file with the columns client and value")
    encode.add_argument("--params", required=True, metavar="PARAMS", help="a CSV file with k, h, m, p, q and f")
    encode.add_argument(
        "--secret", required=True, metavar="FILE", help="clients' secrets come from it; made if missing"
    )
    spent = "what all reports of one value may cost a client (default: 10)"
    encode.add_argument("--budget", type=float, default=10.0, metavar="EPSILON", help=spent)
    encode.add_argument("--out", required=True, metavar="REPORTS", help="a CSV file with the columns cohort and irr")
    encode.add_argument("--json", action="store_true", help="print JSON instead of text")
    encode.set_defaults(run=later("parties.rappor_command", "encode"))
    decode = actions.add_parser("decode", help="find the candidates that clients have, and how many")
    decode.add_argument("reports", metavar="REPORTS", help="a CSV file with the columns cohort and irr")
    decode.add_argument("--params", required=True, metavar="PARAMS", help="those that reports were made with")
    decode.add_argument("--candidates", required=True, metavar="FILE", help="what is looked for, one in each line")
    decode.add_argument("--level", type=float, default=0.05, metavar="A", help="of the tests (default: 0.05)")
    decode.add_argument("--bonferroni", action="store_true", help="correct by Bonferroni, not Benjamini and Hochberg")
    decode.add_argument("--split", action="store_true", help="choose in even cohorts, test in odd ones")
    decode.add_argument("--plot", metavar="FILE", help="draw the estimates with their intervals: .png, .svg or .pdf")
    decode.add_argument("--json", action="store_true", help="print JSON instead of text")
    decode.set_defaults(run=later("parties.rappor_command", "decode"))
