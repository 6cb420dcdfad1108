"""A task of devices as a TOML file, the same for everybody: a schema, and after it

[task]
name = "survey of May"          # which no other task has
recipe = '...'                  # the question, as parties and ledgers write it
event = '...'                   # what each aggregator's noise alone promises
least = 1000                    # the fewest reports that are opened
leader = "https://..."          # where devices send reports
helper = "https://..."          # the other aggregator
collector = "..."               # the key for which shares of the sum are sealed
start = 1700000000              # when reports are taken, in seconds since 1970
duration = 2592000              # for how many seconds
precision = 3600                # to which the time of a report is rounded
identifier = "..."              # a hash of all of it: whoever computes another one does not take part

Secrets are in files of their owner's alone: what both aggregators have, and what the asker has.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from discreet.core.errors import DiscreetError, ParameterError, SchemaError
from discreet.core.events import read, written
from discreet.core.neighbors import RECORD
from discreet.ledger.own_file import create_own, read_own
from discreet.query.blank_schema import quoted
from discreet.query.federation_file import written_schema
from discreet.query.schema_file import SchemaFile, parsed
from discreet.query.words import Wording, named, statistic_asked, unknown
from discreet.questions.recipe import Recipe
from discreet.schema.schema import Schema
from discreet.trust.aggregation.aggregation_task import NEIGHBORS, AggregationTask
from discreet.trust.aggregation.collected import task_for
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.sealed_report import ShareKey
from discreet.trust.aggregation.stored_aggregator import AggregatorSecrets, AskerSecrets

TEXTS = ("name", "recipe", "event", "leader", "helper", "collector", "identifier")
NUMBERS = ("least", "start", "duration", "precision")
LONGEST = 4096  # bytes of a file of secrets
ASKED = "task of devices"


def asked_in_words(text: str, epsilon: float, delta: float = 0.0) -> Callable[[Any], Any]:
    """What asks a question in words of whatever it is given, such as "histogram of age bins=8"."""
    wording = Wording.of(text)
    found = named(wording)
    if found is None:
        raise unknown(ASKED, "_".join(wording.words), 'Write such as "histogram of age bins=8".')
    question = statistic_asked(ASKED, *found, wording.options)
    paid = {"epsilon": epsilon} | ({"delta": delta} if delta else {})
    return lambda data: question.function(data, **question.options, **paid)


def task_in_words(
    text: str, schema: Schema, name: str, least: int, epsilon: float, delta: float = 0.0
) -> AggregationTask:
    """The task that has devices answer a question in words.

    Examples
    --------
    >>> task_in_words("mean of x0", Schema.numeric(0, 1, 1), "1", 100, 1.0).recipe.name
    'moments'
    """
    return task_for(asked_in_words(text, epsilon, delta), schema, name, least)


def written_task(published: PublishedTask) -> str:
    """The text of a task's file."""
    task = published.task
    values: dict[str, Any] = {
        "name": task.name,
        "recipe": task.recipe.written(),
        "event": written(task.event),
        "least": task.least,
        "leader": published.leader,
        "helper": published.helper,
        "collector": published.collector.hex(),
        "start": published.start,
        "duration": published.duration,
        "precision": published.precision,
        "identifier": published.identifier.hex(),
    }
    lines = [f"{key} = {quoted(value) if isinstance(value, str) else value}" for key, value in values.items()]
    return written_schema(SchemaFile(task.schema, NEIGHBORS, RECORD)) + "\n[task]\n" + "\n".join(lines) + "\n"


def read_task(path: str | Path) -> PublishedTask:
    """The task in a TOML file; `SchemaError` at the first mistake, and where another version built it."""
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as why:
        raise ParameterError(f"read {path}", str(why), "Give a file of `discreet aggregate create`.") from why
    return parsed_task(text, f"task {path}")


def parsed_task(text: str, where: str = ASKED) -> PublishedTask:
    """The task that `written_task` wrote, or whoever sent these words."""
    described = parsed(text, where)
    table = tomllib.loads(text).get("task")
    if not isinstance(table, dict) or set(table) != {*TEXTS, *NUMBERS}:
        keys = ", ".join((*TEXTS, *NUMBERS))
        raise SchemaError(where, "its [task] table is missing or has other keys", f"Write {keys}.")
    kinds = [(TEXTS, str), (NUMBERS, int)]
    if wrong := [name for names, kind in kinds for name in names if type(table[name]) is not kind]:
        raise SchemaError(where, f"its {wrong[0]} is not of the right kind", "Run: discreet aggregate create.")
    try:
        recipe, event = Recipe.read(table["recipe"]), read(table["event"])
        task = AggregationTask(table["name"], recipe, event, described.schema, 2, table["least"])
        times = [table[name] for name in NUMBERS[1:]]
        found = PublishedTask(task, table["leader"], table["helper"], bytes.fromhex(table["collector"]), *times)
        same = found.identifier.hex() == table["identifier"]
    except DiscreetError as why:
        raise SchemaError(where, why.obstacle, why.remedy or "Run: discreet aggregate create.") from why
    except (ValueError, TypeError, ArithmeticError, RecursionError) as why:
        raise SchemaError(where, f"it is not a task ({why})", "Run: discreet aggregate create.") from why
    if not same:
        obstacle = "its identifier is not that of what it says: it was changed, or another version built it"
        raise SchemaError(where, obstacle, "Get the file from whoever made it, and use the same version everywhere.")
    return found


@dataclass(frozen=True)
class SecretsFile:
    """Which secrets a file has, by the name of its fields."""

    task: bytes
    fields: dict[str, bytes]

    def write(self, path: str | Path) -> None:
        """Write a new file that its owner alone can read."""
        text = {"task": self.task.hex()} | {name: value.hex() for name, value in self.fields.items()}
        try:
            create_own(path, json.dumps(text).encode() + b"\n")
        except OSError as why:
            raise ParameterError(f"write {path}", str(why.strerror or why), "Choose another place.") from why

    @classmethod
    def read(cls, path: str | Path, published: PublishedTask, names: tuple[str, ...]) -> list[bytes]:
        """The secrets of these names, if they are of this task."""
        try:
            told = json.loads(read_own(path, f"read {path}", 2, LONGEST))
            found = [bytes.fromhex(told[name]) for name in ("task", *names)]
        except OSError as why:
            raise ParameterError(f"read {path}", str(why.strerror or why), "Check the path.") from why
        except (ValueError, KeyError, TypeError, RecursionError) as why:
            if isinstance(why, DiscreetError):
                raise
            obstacle = "it has no such secrets"
            raise ParameterError(f"read {path}", obstacle, "Give a file of `discreet aggregate create`.") from None
        if found[0] != published.identifier:
            raise ParameterError(f"read {path}", "its secrets are of another task", "Give those of this one.")
        return found[1:]


AGGREGATORS, ASKER = ("verification", "token", "asker"), ("key", "token")


def write_secrets(path: str | Path, published: PublishedTask, secrets: AggregatorSecrets) -> None:
    """Write what both aggregators have to a new file."""
    SecretsFile(published.identifier, {name: getattr(secrets, name) for name in AGGREGATORS}).write(path)


def read_secrets(path: str | Path, published: PublishedTask) -> AggregatorSecrets:
    """What both aggregators have."""
    return AggregatorSecrets(*SecretsFile.read(path, published, AGGREGATORS))


def write_asker(path: str | Path, published: PublishedTask, secrets: AskerSecrets) -> None:
    """Write what the asker has to a new file."""
    SecretsFile(published.identifier, {"key": secrets.key.secret, "token": secrets.token}).write(path)


def read_asker(path: str | Path, published: PublishedTask) -> AskerSecrets:
    """What the asker has."""
    key, token = SecretsFile.read(path, published, ASKER)
    found = AskerSecrets(ShareKey(key), token)
    if found.key.public != published.collector:
        raise ParameterError(f"read {path}", "its key is not that of the task", "Give the one that was made with it.")
    return found
