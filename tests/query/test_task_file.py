"""A task as a file: what was written is read, and whatever was changed is refused with what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from discreet.core.errors import ParameterError, SchemaError
from discreet.query.task_file import (
    asked_in_words,
    parsed_task,
    read_asker,
    read_secrets,
    read_task,
    task_in_words,
    write_asker,
    write_secrets,
    written_task,
)
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.aggregation.published_task import PublishedTask
from discreet.trust.aggregation.stored_aggregator import drawn_secrets

SCHEMA = Schema({"answer": Category(("never", 'at "times"', "daily")), "age": Number(0, 100)})
SHARED, ASKER = drawn_secrets()
TASK = task_in_words("histogram of answer", SCHEMA, "survey of May", 10, 1.0)
PUBLISHED = PublishedTask(TASK, "https://a.example/l", "https://b.example", ASKER.key.public, 1_700_000_000)
TEXT = written_task(PUBLISHED)


@pytest.mark.parametrize("asked", ["histogram of answer", "mean of age", "count of age where age > 30", "total of age"])
@pytest.mark.parametrize("delta", [0.0, 1e-6])
def test_what_was_written_is_read(tmp_path: Path, asked: str, delta: float) -> None:
    task = task_in_words(asked, SCHEMA, "a name", 7, 0.5, delta)
    published = PublishedTask(task, "https://a.example", "https://b.example", ASKER.key.public, 5, 60, 10)
    (tmp_path / "t").write_text(written_task(published), encoding="utf-8")
    assert read_task(tmp_path / "t") == published
    assert read_task(tmp_path / "t").identifier == published.identifier


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("least = 10\n", "", "is missing or has other keys"),
        ("least = 10\n", "least = 10\nmost = 20\n", "is missing or has other keys"),
        ("[task]", "[tusk]", "tusk"),
        ("least = 10\n", 'least = "10"\n', "its least is not of the right kind"),
        ("least = 10\n", "least = true\n", "its least is not of the right kind"),
        ("start = 1700000000\n", "start = 1.7e9\n", "its start is not of the right kind"),
        ('name = "survey of May"', "name = 5", "its name is not of the right kind"),
        ("least = 10\n", "least = 0\n", "the least batch has 0 reports"),
        ("least = 10\n", "least = 9\n", "identifier is not that of what it says"),
        ("https://b.example", "https://c.example", "identifier is not that of what it says"),
        ("https://b.example", "http://b.example", "read by others on the way"),
        ("start = 1700000000\n", "start = 1700000001\n", "identifier is not that of what it says"),
        ('"never"', '"seldom"', "identifier is not that of what it says"),
        ("contingency", "no_such_question", "no recipe of this name"),
        ('recipe = "{', 'recipe = "', ""),
        ('event = "{', 'event = "', ""),
        ("laplace", "nothing", ""),
        ('collector = "', 'collector = "zz', "it is not a task"),
        ('collector = "', 'collector = "00', "the collector's key has 33 bytes"),
    ],
)
def test_a_task_that_was_changed_is_refused(old: str, new: str, why: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(SchemaError) as refusal:
        parsed_task(TEXT.replace(old, new), "task t")
    assert why in str(refusal.value)
    assert refusal.value.remedy
    assert str(refusal.value).startswith("task t")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes").write_bytes(b"\xff\xfe\x00")
    for name in ("bytes", "none"):
        with pytest.raises(ParameterError, match=f"{name}.*discreet aggregate create"):
            read_task(tmp_path / name)


def test_secrets_are_of_one_task_and_of_their_owner_alone(tmp_path: Path) -> None:
    write_secrets(tmp_path / "s", PUBLISHED, SHARED)
    write_asker(tmp_path / "a", PUBLISHED, ASKER)
    assert read_secrets(tmp_path / "s", PUBLISHED) == SHARED
    assert read_asker(tmp_path / "a", PUBLISHED) == ASKER
    other = PublishedTask(TASK, PUBLISHED.leader, PUBLISHED.helper, ASKER.key.public, 1)
    with pytest.raises(ParameterError, match="of another task"):
        read_secrets(tmp_path / "s", other)
    with pytest.raises(ParameterError, match="it has no such secrets"):
        read_asker(tmp_path / "s", PUBLISHED)
    with pytest.raises(ParameterError, match="Choose another place"):
        write_secrets(tmp_path / "s", PUBLISHED, SHARED)
    with pytest.raises(ParameterError, match="Check the path"):
        read_secrets(tmp_path / "none", PUBLISHED)
    (tmp_path / "a").chmod(0o640)
    with pytest.raises(ParameterError, match="others on this machine can read it"):
        read_asker(tmp_path / "a", PUBLISHED)


def test_a_key_of_somebody_else_opens_nothing_and_is_refused(tmp_path: Path) -> None:
    write_asker(tmp_path / "a", PUBLISHED, drawn_secrets()[1])
    with pytest.raises(ParameterError, match="not that of the task"):
        read_asker(tmp_path / "a", PUBLISHED)


@pytest.mark.parametrize("text", ["[]", "55", "{}", '{"task": 5}', '{"task": "zz"}', "not json", "[" * 4000])
def test_other_words_are_no_secrets_and_are_not_shown(tmp_path: Path, text: str) -> None:
    (tmp_path / "s").write_text(text)
    (tmp_path / "s").chmod(0o600)
    with pytest.raises(ParameterError, match="it has no such secrets") as refusal:
        read_secrets(tmp_path / "s", PUBLISHED)
    assert refusal.value.__cause__ is None


def test_short_secrets_are_refused(tmp_path: Path) -> None:
    write_secrets(tmp_path / "s", PUBLISHED, SHARED)
    told = json.loads((tmp_path / "s").read_text()) | {"token": "00"}
    (tmp_path / "s").write_text(json.dumps(told))
    with pytest.raises(ParameterError, match="not of 32 bytes"):
        read_secrets(tmp_path / "s", PUBLISHED)


@pytest.mark.parametrize("asked", ["", "no_such of age", "of age"])
def test_words_that_are_no_statistic_are_refused(asked: str) -> None:
    with pytest.raises(ParameterError, match="task of devices"):
        asked_in_words(asked, 1.0)
