"""The arguments of `discreet serve`, `site`, `user` and `fit`."""

from __future__ import annotations

import argparse
from typing import Any

from discreet.service.cli.later import later

HERE = "sites.site_command"


def add_serve(commands: Any) -> None:
    """`discreet serve`."""
    serve = commands.add_parser("serve", help="serve data sets to analysts, as a site's file describes them")
    serve.add_argument("file", nargs="?", metavar="site.toml", help="see: discreet site init")
    serve.add_argument("--demo", action="store_true", help="serve the sample table from a folder that is thrown away")
    serve.add_argument("--json", action="store_true", help="print JSON instead of text")
    serve.set_defaults(run=later("sites.serve_command", "serve"))


def add_site(commands: Any, parser: type[argparse.ArgumentParser]) -> None:
    """`discreet site` and `discreet user`."""
    site = commands.add_parser("site", help="a site: its file, its backups")
    actions = site.add_subparsers(required=True, metavar="ACTION", parser_class=parser)
    init = actions.add_parser("init", help="write a file to fill in, and a data set to begin with")
    init.add_argument("folder", metavar="FOLDER")
    init.add_argument("--epsilon", type=float, default=10.0, metavar="E", help="of the sample's account (default: 10)")
    init.add_argument("--delta", type=float, default=1e-6, metavar="D", help="of the same (default: 1e-6)")
    _common(init, "init")
    check = actions.add_parser("check", help="check a site's file, and that its ledgers are whole")
    check.add_argument("file", metavar="site.toml")
    _common(check, "check")
    backup = actions.add_parser("backup", help="copy ledgers and the site's own memory, while it is served")
    backup.add_argument("file", metavar="site.toml")
    backup.add_argument("--out", required=True, metavar="FOLDER", help="a new folder")
    _common(backup, "backup")
    restore = actions.add_parser("restore", help="put a backup back; one that would undo charges is refused")
    restore.add_argument("file", metavar="site.toml")
    restore.add_argument("--from", dest="source", required=True, metavar="FOLDER", help="what backup wrote")
    restore.add_argument("--head", action="append", default=[], metavar="DATA=HEX", help="kept elsewhere; for each")
    _common(restore, "restore")
    user = commands.add_parser("user", help="who may use a site: add somebody, draw a key, end all keys")
    ways = user.add_subparsers(required=True, metavar="ACTION", parser_class=parser)
    for action, about in (("add", "add somebody"), ("key", "draw another key"), ("revoke", "end all keys of somebody")):
        one = ways.add_parser(action, help=about)
        one.add_argument("name", metavar="NAME")
        one.add_argument("--site", default="site.toml", metavar="site.toml", help="the site's file (default: here)")
        if action == "add":
            one.add_argument("--role", required=True, metavar="ROLE", help="analyst, curator or auditor")
            one.add_argument("--data", nargs="+", default=[], metavar="DATA", help="which data sets an analyst may ask")
        if action != "revoke":
            one.add_argument("--days", type=float, metavar="N", help="after which the key expires (default: never)")
        one.add_argument("--json", action="store_true", help="print JSON instead of text")
        one.set_defaults(run=later("sites.user_command", action))


def add_fit(commands: Any) -> None:
    """`discreet fit`."""
    fit = commands.add_parser("fit", help='a learner, such as: discreet fit people.csv "KMeans n_clusters=3"')
    fit.add_argument("file", metavar="FILE", help="a file of records; or with --site, the name of a data set")
    fit.add_argument("learner", metavar="LEARNER", help="its name, and parameters such as n_clusters=3")
    fit.add_argument("--delimiter", default=",", metavar="D", help=argparse.SUPPRESS)
    fit.add_argument("--dialect", default="rfc4180", metavar="D", help=argparse.SUPPRESS)
    fit.add_argument("--schema", metavar="SCHEMA", help="what is public about the table")
    fit.add_argument("--epsilon", type=float, required=True, metavar="E", help="what it may cost")
    fit.add_argument("--delta", type=float, default=0.0, metavar="D", help="the chance of failure (default: 0)")
    fit.add_argument("--ledger", metavar="LEDGER", help="the account that pays; see: discreet ledger create")
    fit.add_argument("--analyst", metavar="NAME", help="who asks, where the account has caps for analysts")
    fit.add_argument("--key", metavar="K", help="makes a retry safe: the same key is charged once")
    fit.add_argument("--out", required=True, metavar="model.joblib", help="where the model is written")
    add_elsewhere(fit)
    fit.add_argument("--json", action="store_true", help="print JSON instead of text")
    fit.set_defaults(run=later("sites.fit_command", "fit"))


def add_elsewhere(command: Any) -> None:
    """What a command takes that may ask a site in place of a file."""
    command.add_argument("--site", metavar="ADDRESS", help="ask a data set of this site; DISCREET_KEY has the key")
    command.add_argument("--trusted", metavar="FILE", help="certificates to trust in place of the system's")


def _common(command: Any, action: str) -> None:
    command.add_argument("--json", action="store_true", help="print JSON instead of text")
    command.set_defaults(run=later(HERE, action))
