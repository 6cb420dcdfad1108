"""`discreet fit`: a learner on a file or on a data set of a site, and the model in a file."""

from __future__ import annotations

import io
from argparse import Namespace
from contextlib import ExitStack

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.display.plain import plain
from discreet.ledger.book_ledger import fresh_key
from discreet.ledger.own_file import replace_own
from discreet.query.asked_question import AskedQuestion
from discreet.query.schema_file import read_schema
from discreet.service.cli.account import check_account, paid_key
from discreet.service.cli.out_file import OutFile
from discreet.service.cli.private_file import private_file, unquoted
from discreet.service.cli.saying import WayOut, say, writing_paid
from discreet.service.cli.sites.site_key import data_elsewhere

ASKED = "discreet fit"


def fit(arguments: Namespace) -> int:
    """Fit a learner, and write the model."""
    question, budget = AskedQuestion.read(arguments.learner), Budget(arguments.epsilon, arguments.delta)
    if question.kind != "learner":
        raise ParameterError(ASKED, f"{question.name!r:.60} is no learner", 'Write such as "KMeans n_clusters=3".')
    if not str(arguments.out).endswith(".joblib"):
        raise ParameterError(ASKED, f"--out is {arguments.out}", "Name it model.joblib.")
    if arguments.site is None and arguments.schema is None:
        raise ParameterError(ASKED, "nothing says what is public about the table", "Give --schema, or --site.")
    with ExitStack() as files:
        out = files.enter_context(OutFile(arguments.out, [arguments.file]))  # tried before anything is charged
        if arguments.site is not None:
            key, data = arguments.key or fresh_key(), data_elsewhere(arguments, files)
        else:
            check_account(arguments)
            key = paid_key(arguments)
            data = private_file(arguments, read_schema(arguments.schema), budget, files)
        model = unquoted(ASKED, lambda: question.ask(data, budget, key))
    with writing_paid(out.path, key):
        replace_own(out.path, _written(model))
    text, receipt = f"Wrote {plain(arguments.out)}: {model}", model.receipt_
    there = WayOut(f"It was charged, and the model is in {out.path}.", "Take it there.")
    say(arguments, f"{text}\n{receipt.cost}", there, out=str(arguments.out), key=receipt.key)
    return 0


def _written(model: object) -> bytes:
    import joblib

    file = io.BytesIO()
    joblib.dump(model, file)
    return file.getvalue()
