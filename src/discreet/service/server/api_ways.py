"""All that can be asked of a site over a line: each way with its fields, what it does, and what it may refuse."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from http import HTTPStatus
from typing import Any

from discreet.core.errors import ParameterError
from discreet.core.events import read, written
from discreet.core.ledger import Entry
from discreet.query.schema_file import SchemaFile, document_of
from discreet.releases.release import finite
from discreet.service.server.api_fields import ApiField
from discreet.service.server.site import DataSetView, Site
from discreet.service.server.site_answer import SiteAnswer
from discreet.service.server.site_file import UserEntry
from discreet.service.server.site_store import AskedEntry

QUESTION = ApiField("question", "In words, in SQL, or in a plain form.", True)
EPSILON = ApiField("number", "What it may cost.", True)
DELTA = ApiField("number", "The chance of failure that it may cost; 0 by default.")
KEY = ApiField("text", "Makes a retry safe: the same question with the same key is charged once.")
STORED = ApiField("truth", "Whether to give what the ledger has, from which a client makes the result itself.")
REASON = ApiField("text", "For the record.", True)
PAID = (402, 409)


@dataclass(frozen=True)
class ApiReply:
    """What is sent back, and when it may leave."""

    content: Any
    status: HTTPStatus = HTTPStatus.OK
    due: float = 0.0


@dataclass(frozen=True)
class ApiWay:
    """One way to ask a site.

    Parameters
    ----------
    method, path : str
        Of the request.
    about : str
        What it does, in a sentence.
    act : callable
        Called with the site, the caller, what the path names, and the fields that were sent.
    fields : dict of str to ApiField
        What a request may say.
    refuses : tuple of int
        Statuses that it may have beside those that all have.
    """

    method: str
    path: str
    about: str
    act: Callable[[Site, UserEntry, dict[str, str], dict[str, Any]], ApiReply]
    fields: dict[str, ApiField] = field(default_factory=dict)
    refuses: tuple[int, ...] = ()

    @property
    def names(self) -> list[str]:
        """What the path names."""
        return [part[1:-1] for part in self.path.split("/") if part.startswith("{")]


def _me(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return ApiReply({"site": site.file.name, "user": caller.name, "role": caller.role})


def _data_sets(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return ApiReply({"data": [_view(one) for one in site.data_sets(caller)]})


def _data_set(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return ApiReply(_view(site.data_set(caller, named["name"])))


def _plan(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    questions = said.pop("questions")
    return ApiReply(json.loads(site.plan(caller, named["name"], *questions, **said).to_json()))


def _often(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    try:
        event = read(json.dumps(said["event"]))
    except (ValueError, TypeError, KeyError, AttributeError, ArithmeticError, RecursionError) as why:
        raise ParameterError("a request", "event is no event", "Send the JSON form of one.") from why
    return ApiReply({"times": site.often(caller, named["name"], event, said["most"])})


def _ask(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    stored = said.pop("stored", False)
    return _answered(site.ask_early(caller, named["name"], said.pop("question"), **said), stored)


def _asked(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return ApiReply({"asked": [_entry(one) for one in site.asked(caller)]})


def _question(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return ApiReply(_entry(site.question(caller, named["id"])))


def _answer(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return _answered(site.answer(caller, named["id"]), said.get("stored", False))


def _history(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return ApiReply({"charges": [_charge(one) for one in site.history(caller, named["name"])]})


def _verify(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return ApiReply(asdict(site.verify(caller, named["name"])))


def _approve(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return _told(site.approve(caller, named["id"]))


def _again(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    return _told(site.again(caller, named["id"]))


def _deny(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    site.deny(caller, named["id"], said["reason"])
    return ApiReply(_entry(site.question(caller, named["id"])))


def _freeze(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    site.freeze(caller, named["name"], said["reason"])
    return ApiReply(_view(site.data_set(caller, named["name"])))


def _thaw(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    site.thaw(caller, named["name"])
    return ApiReply(_view(site.data_set(caller, named["name"])))


def _reopen(site: Site, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> ApiReply:
    site.reopen(caller, named["name"])
    return ApiReply(_view(site.data_set(caller, named["name"])))


WAYS: tuple[ApiWay, ...] = (
    ApiWay("GET", "/api/me", "Who you are here.", _me),
    ApiWay("GET", "/api/data", "The data sets that you may ask.", _data_sets),
    ApiWay("GET", "/api/data/{name}", "What is public about a data set, and what is left of its budget.", _data_set),
    ApiWay(
        "POST",
        "/api/data/{name}/plan",
        "What questions would cost and how far off they would be; nothing is read or charged.",
        _plan,
        {
            "questions": ApiField("questions", "As for asking.", True),
            "epsilon": ApiField("numbers", "The prices to look at."),
            "delta": DELTA,
            "n": ApiField("whole", "How many records are assumed; at most 100,000."),
            "for_error": ApiField("number", "In place of prices: the error for which one is looked for."),
        },
    ),
    ApiWay(
        "POST",
        "/api/data/{name}/often",
        "How often the accounts could pay for an event now; nothing is charged.",
        _often,
        {"event": ApiField("object", "In its JSON form.", True), "most": ApiField("whole", "At most.", True)},
    ),
    ApiWay(
        "POST",
        "/api/data/{name}/ask",
        "Ask a question. Its answer leaves at a public moment after it came; one that was paid for before, at once.",
        _ask,
        {"question": QUESTION, "epsilon": EPSILON, "delta": DELTA, "key": KEY, "stored": STORED},
        (202, *PAID),
    ),
    ApiWay("GET", "/api/data/{name}/history", "Charges, the oldest first.", _history),
    ApiWay("GET", "/api/data/{name}/verify", "Check the whole ledger; for curators and auditors.", _verify),
    ApiWay("POST", "/api/data/{name}/freeze", "Let nobody ask; for curators.", _freeze, {"reason": REASON}),
    ApiWay("POST", "/api/data/{name}/thaw", "Let it be asked again; for curators.", _thaw),
    ApiWay("POST", "/api/data/{name}/reopen", "Open a ledger again that was set right; for curators.", _reopen),
    ApiWay("GET", "/api/asked", "Questions, the newest first: your own; all, for curators and auditors.", _asked),
    ApiWay("GET", "/api/asked/{id}", "A question, and what became of it.", _question),
    ApiWay(
        "POST",
        "/api/asked/{id}/answer",
        "The answer to an own question, once more and for nothing; or what it waits for.",
        _answer,
        {"stored": STORED},
        (202, *PAID),
    ),
    ApiWay("POST", "/api/asked/{id}/approve", "Let it be asked; for curators.", _approve, refuses=(202,)),
    ApiWay("POST", "/api/asked/{id}/deny", "Let it not be asked; for curators.", _deny, {"reason": REASON}),
    ApiWay(
        "POST", "/api/asked/{id}/again", "Ask once more what has no answer, for a new charge.", _again, refuses=(202,)
    ),
)


def _answered(found: SiteAnswer, stored: bool) -> ApiReply:
    return ApiReply(found.to_dict(stored), HTTPStatus.OK if found.done else HTTPStatus.ACCEPTED, found.due)


def _told(found: SiteAnswer) -> ApiReply:
    """What a curator is told of somebody else's question: how it stands, and not the answer."""
    about = {"id": found.id, "data": found.data, "state": found.state}
    return ApiReply(about, HTTPStatus.ACCEPTED)


def _view(one: DataSetView) -> dict[str, Any]:
    return {
        "name": one.name,
        "about": one.about,
        "schema": document_of(SchemaFile(one.schema, one.neighbors, one.unit)),
        "balances": {name: balance.to_dict() for name, balance in one.balances.items()},
        "assumed": one.assumed,
        "units": one.units,
        "curated": one.curated,
        "rereads": one.rereads,
        "shows_all_rows": one.shows_all_rows,
        "above": one.above,
        "frozen": one.frozen,
        "trouble": one.trouble,
        "unopened": one.unopened,
    }


def _entry(one: AskedEntry) -> dict[str, Any]:
    return {**vars(one), "question": one.plain}


def _charge(one: Entry) -> dict[str, Any]:
    return finite({**vars(one), "event": json.loads(written(one.event))})
