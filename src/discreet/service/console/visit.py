"""A visit of a page: who looks at it and what was sent; and what goes back."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from discreet.service.console.policy import HEADERS, UNKEPT
from discreet.service.console.sent_form import SentForm
from discreet.service.console.templates import rendered
from discreet.service.server.api_keys import Session
from discreet.service.server.site import Site
from discreet.service.server.site_file import UserEntry
from discreet.service.server.site_refusals import no_such

SESSION, VISITOR = "discreet_session", "discreet_visitor"
MENU = (
    ("/data", "Data sets", ("analyst", "curator", "auditor")),
    ("/answers", "Answers", ("analyst", "curator")),
    ("/approvals", "Approvals", ("curator",)),
    ("/people", "People", ("curator", "auditor")),
    ("/history", "History", ("curator", "auditor")),
    ("/schema", "Schema editor", ("curator",)),
    ("/tour", "Tour", ("analyst", "curator", "auditor")),
)


@dataclass(frozen=True)
class PageReply:
    """What goes back to a browser.

    Parameters
    ----------
    body : str or bytes
        The page, a part of one, or a file.
    status : int
        Of HTTP.
    kind : str
        The media type.
    headers : mapping of str to str
        What browsers are told beside.
    cookies : mapping of str to str or None
        Cookies that are set; None for one that is taken away.
    due : float
        When it may leave, by the clock that only goes forward.
    """

    body: str | bytes = ""
    status: int = 200
    kind: str = "text/html; charset=utf-8"
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType(dict(UNKEPT)))
    cookies: Mapping[str, str | None] = field(default_factory=dict)
    due: float = 0.0

    @classmethod
    def file(cls, name: str, content: str, kind: str) -> PageReply:
        """A file to be kept; its name is made of safe letters."""
        safe = "".join(letter if letter.isascii() and (letter.isalnum() or letter in "-_.") else "-" for letter in name)
        told = {**UNKEPT, "content-disposition": f'attachment; filename="{safe[:120]}"'}
        return cls(content, kind=f"{kind}; charset=utf-8", headers=told)

    @classmethod
    def asset(cls, content: bytes, kind: str) -> PageReply:
        """A file of the console itself, compressed, which browsers may keep."""
        told = {
            "content-encoding": "gzip",
            "cache-control": "public, max-age=31536000, immutable",
            "vary": "accept-encoding",
        }
        return cls(content, kind=kind, headers={**HEADERS, **told})


@dataclass(frozen=True)
class Visit:
    """One request, once it is known who sends it.

    Parameters
    ----------
    site : Site
        What is looked at.
    base : str
        Before every path of the console.
    path : str
        What is looked for.
    named : mapping of str to str
        The parts of the path that are names.
    sent : SentForm
        What stands in the address.
    form : SentForm
        What a form sends.
    session : Session, optional
        Of whom; None of anybody.
    caller : UserEntry, optional
        Who that is.
    visitor : str
        What somebody without a session is known by, for the form with which one begins.
    part : bool
        Whether a part of a page is wanted, by the script.
    address : str
        Of the site, as programs reach it.
    """

    site: Site
    base: str
    path: str
    named: Mapping[str, str] = field(default_factory=dict)
    sent: SentForm = field(default_factory=SentForm)
    form: SentForm = field(default_factory=SentForm)
    session: Session | None = None
    caller: UserEntry | None = None
    visitor: str = ""
    part: bool = False
    address: str = ""

    @property
    def user(self) -> UserEntry:
        """Who looks, where somebody must be known."""
        assert self.caller is not None
        return self.caller

    @property
    def csrf(self) -> str:
        """What forms of this page send back."""
        return form_token(self.visitor) if self.session is None else self.session.csrf

    def check_role(self, *roles: str) -> None:
        """Refuse others as if the page did not exist."""
        if self.user.role not in roles:
            raise no_such("page", self.path)

    def about(self) -> dict[str, Any]:
        """What every page shows."""
        return {
            "site_name": self.site.file.name,
            "base": self.base,
            "user": self.caller,
            "csrf": self.csrf,
            "menu": self._menu(),
            "said": "",
            "refusal": None,
            "broken": "",
        }

    def _menu(self) -> list[dict[str, Any]]:
        role = "" if self.caller is None else self.caller.role
        shown = [(path, name) for path, name, roles in MENU if role in roles]
        if self.caller is None:
            shown = [("/tour", "Tour"), ("/sign-in", "Sign in")]
        here = "/" + self.path.strip("/").split("/")[0]
        return [{"path": path, "name": name, "here": path == here} for path, name in shown]

    def page(self, template: str, status: int = 200, **about: Any) -> PageReply:
        """A page from a template."""
        return PageReply(rendered(template, {**self.about(), **about}), status)

    def seen(self, path: str, due: float = 0.0) -> PageReply:
        """Go on to another page of the console, after a form was sent."""
        return PageReply(status=303, headers={**UNKEPT, "location": f"{self.base}{path}"}, due=due)


def drawn_visitor() -> str:
    """What somebody without a session is known by."""
    return secrets.token_urlsafe(24)


def form_token(visitor: str) -> str:
    """What the form of a visitor sends back: others cannot know it, since they do not have the cookie."""
    return hashlib.sha256(f"discreet form {visitor}".encode()).hexdigest()


def is_form_of(visitor: str, sent: str) -> bool:
    """Whether a form comes from a page that this visitor was shown."""
    return bool(visitor) and hmac.compare_digest(form_token(visitor).encode(), sent.encode(errors="replace"))
