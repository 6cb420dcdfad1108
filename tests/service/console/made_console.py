"""A console before a small site whose names are hostile, and a browser without a screen, script or picture."""

from __future__ import annotations

import csv
import html
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import httpx

from discreet.core.budget import Budget
from discreet.crypto.identity import Identity
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.query.schema_file import read_schema
from discreet.service.console.console import Console
from discreet.service.key_file import write_identity
from discreet.service.server.serving_site import served
from discreet.service.server.site import Site
from tests.service.server.made_site import TEXT, made_site

HOSTILE = "<script>alert('x')</script>\"'&{{7*7}}{%x%}"
SHOUTED = "alert('x')"
OPENED: list[httpx.Client] = []  # by tests, until their site is closed
VOID = {"meta", "link", "br", "img", "hr", "input"}
ODD = f"""
[data.odd]
schema = "odd.toml"
source = "odd.csv"
account = "odd.ledger"
about = {json.dumps(HOSTILE)}
assumed = 1000
"""
SCHEMA = f"""
[columns.{json.dumps(HOSTILE)}]
kind = "number"
lower = 0
upper = 10

[columns.group]
kind = "category"
values = ["a", {json.dumps(HOSTILE)}]
"""


@contextmanager
def made_console(folder: Path, identity: Identity | None = None, **console: Any) -> Iterator[tuple[Site, httpx.Client]]:
    """A site with three data sets, its pages, and somebody who has not signed in."""
    text = TEXT.replace('data = ["patients"]', 'data = ["patients", "odd"]').replace(
        "[users.ann]", f"{ODD}\n[users.ann]"
    )
    if identity is not None:
        write_identity(folder / "identity.key", identity)
        text = f'identity = "identity.key"\n{text}'
    path = made_site(folder, Budget(8.0, 1e-5), text)
    (folder / "odd.toml").write_text(SCHEMA, encoding="utf-8")
    with (folder / "odd.csv").open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([[HOSTILE, "group"], *[[row % 10, ("a", HOSTILE)[row % 2]] for row in range(500)]])
    described = read_schema(folder / "odd.toml")
    SqliteLedger.create(
        folder / "odd.ledger",
        Budget(8.0, 1e-5),
        name="odd",
        neighbors=described.neighbors,
        unit=described.unit,
        analysts={"ann": Budget(4.0, 1e-6), "cat": Budget(4.0, 1e-6)},
    ).close()
    with Site.open(path) as site, served(site, Console(site, **console).routes()) as there:
        opened = len(OPENED)
        yield site, browser_at(there.address)
        while len(OPENED) > opened:
            OPENED.pop().close()


def browser_at(address: str, **cookies: str) -> httpx.Client:
    """A browser that has these cookies, and keeps those that it is given."""
    OPENED.append(httpx.Client(base_url=address, cookies=cookies, timeout=60.0))
    return OPENED[-1]


def signed_in(site: Site, client: httpx.Client, name: str) -> httpx.Client:
    """A browser of somebody with a key; its cookies are its own."""
    browser = browser_at(str(client.base_url))
    token = read(browser.get("/sign-in").text).forms[0].fields["csrf"]
    reply = browser.post("/sign-in", data={"csrf": token, "key": site.keys.drawn(name)})
    assert (reply.status_code, reply.headers["location"]) == (303, "/data")
    return browser


@dataclass
class FormSeen:
    """A form of a page: where it goes, and what it would send as it stands."""

    action: str
    method: str
    fields: dict[str, str] = field(default_factory=dict)


class PageSeen(HTMLParser):
    """A page as a browser takes it in; complains where tags do not nest."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.forms: list[FormSeen] = []
        self.words: list[str] = []
        self._open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        named = dict(attrs)
        self.tags.append((tag, named))
        if tag not in VOID and not self._in_picture(tag):
            self._open.append(tag)
        if tag == "form":
            self.forms.append(FormSeen(named.get("action") or "", named.get("method") or "get"))
        elif self.forms and "form" in self._open and tag in ("input", "select", "textarea", "button"):
            name = named.get("name")
            if name and (named.get("type") not in ("checkbox", "radio") or "checked" in named):
                self.forms[-1].fields[name] = named.get("value") or ""

    def _in_picture(self, tag: str) -> bool:
        return "svg" in self._open and tag in ("rect", "line", "path", "circle")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, (tag, self._open)

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        """What can be read on it, with single blanks."""
        return " ".join(" ".join(self.words).split())

    def form(self, action: str) -> FormSeen:
        """The form that goes to a path."""
        return next(form for form in self.forms if form.action.endswith(action) and form.method == "post")

    def ids(self) -> list[str]:
        return [str(named["id"]) for _, named in self.tags if named.get("id")]


def read(text: str) -> PageSeen:
    """A page, once all of its tags are closed."""
    page = PageSeen()
    page.feed(text)
    page.close()
    assert not page._open, page._open
    return page


def posted(browser: httpx.Client, page: str, action: str, **more: str) -> Any:
    """Send a form of a page, as it stands there, with some fields filled in."""
    form = read(browser.get(page).text).form(action)
    return browser.post(form.action, data={**form.fields, **more})


def bare(text: str) -> str:
    return html.unescape(text)
