"""The console as a part of a server: its paths, who may see them, and refusals that are pages."""

from __future__ import annotations

import asyncio
import re
import sqlite3
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING

from discreet.core.errors import DiscreetError, MissingExtra, ParameterError
from discreet.service.console import answer_pages, curator_pages, data_pages, open_pages, schema_pages
from discreet.service.console.assets import assets
from discreet.service.console.sent_form import LONGEST, SentForm
from discreet.service.console.visit import SESSION, VISITOR, PageReply, Visit, drawn_visitor, is_form_of
from discreet.service.server.api_keys import check_csrf
from discreet.service.server.site import Site
from discreet.service.server.site_refusals import ReadOnlySite, TooLarge, Unrecognised, no_such, status_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

PageMaker = Callable[[Visit], PageReply]
PATIENCE = 20.0  # seconds for a form to arrive
HOST = re.compile(r"[A-Za-z0-9.\-]{1,200}(?::[0-9]{1,5})?|\[[0-9a-f:]{2,40}\](?::[0-9]{1,5})?")
THREADS = 32  # pages that are made at a time
OPEN = ("/", "/tour", "/sign-in")


@dataclass(frozen=True)
class PagePath:
    """A path of the console, and what is made of it."""

    path: str
    shown: PageMaker | None = None
    sent: PageMaker | None = None
    anybody: bool = False


PATHS = (
    PagePath("/", open_pages.home, anybody=True),
    PagePath("/tour", open_pages.tour, anybody=True),
    PagePath("/tour/{step:int}", open_pages.tour, anybody=True),
    PagePath("/sign-in", open_pages.sign_in, open_pages.signed_in, anybody=True),
    PagePath("/sign-out", None, open_pages.signed_out),
    PagePath("/data", data_pages.data_sets),
    PagePath("/data/{name}", data_pages.data_set),
    PagePath("/data/{name}/ask", data_pages.builder, data_pages.asked),
    PagePath("/data/{name}/words", data_pages.words, data_pages.asked),
    PagePath("/data/{name}/card", answer_pages.whole_card),
    PagePath("/data/{name}/freeze", None, curator_pages.frozen),
    PagePath("/data/{name}/thaw", None, curator_pages.thawed),
    PagePath("/data/{name}/reopen", None, curator_pages.reopened),
    PagePath("/answers", answer_pages.answers),
    PagePath("/answers/{id}", answer_pages.answer),
    PagePath("/answers/{id}/card", answer_pages.card),
    PagePath("/answers/{id}/result", answer_pages.result),
    PagePath("/answers/{id}/attack", answer_pages.attack),
    PagePath("/approvals", curator_pages.approvals),
    PagePath("/approvals/{id}", None, curator_pages.decided),
    PagePath("/people", curator_pages.people),
    PagePath("/history", curator_pages.histories),
    PagePath("/history/{name}", curator_pages.history, curator_pages.verified),
    PagePath("/schema", schema_pages.editor, schema_pages.drafted),
)


class Console:
    """The pages of a site, for a server to take in: `site_application(site, Console(site).routes())`.

    Parameters
    ----------
    site : Site
        What is shown.
    secure : bool, optional
        Whether browsers reach it by TLS: then cookies are sent by TLS alone. By default, whether the site has a
        certificate.
    address : str
        Where programs reach the site, as pages tell them; by default, where the browser found it.
    """

    def __init__(self, site: Site, secure: bool | None = None, address: str = "") -> None:
        self._site, self._address = site, address
        self._secure = site.file.certificate is not None if secure is None else secure
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="page")

    def routes(self) -> list[BaseRoute]:
        """What a Starlette application includes."""
        try:
            from starlette.routing import Route
        except ImportError as why:
            raise MissingExtra("the console", "starlette is not installed", "pip install 'discreet[server]'.") from why
        found: list[BaseRoute] = [Route("/static/{file}", _asset)]
        for one in PATHS:
            methods = [method for method, maker in (("GET", one.shown), ("POST", one.sent)) if maker is not None]
            found.append(Route(one.path, self._endpoint(one), methods=methods))
        found.append(
            Route(
                "/{rest:path}", self._endpoint(PagePath("", _nowhere, _nowhere, anybody=True)), methods=["GET", "POST"]
            )
        )
        return found

    def _endpoint(self, path: PagePath) -> Callable[[Request], Awaitable[Response]]:
        async def endpoint(request: Request) -> Response:
            body = await _body(request) if request.method == "POST" else b""
            made = partial(self._replied, path, request, body)
            reply: PageReply = await asyncio.get_running_loop().run_in_executor(self._threads, made)
            left = reply.due - time.monotonic()
            if left > 0:  # an answer leaves at its public moment, whether or not it is followed
                await asyncio.sleep(left)
            return self._response(reply)

        return endpoint

    def _replied(self, path: PagePath, request: Request, body: bytes | None) -> PageReply:
        """The reply to a request, or the page of its refusal: there is no third way."""
        visitor = request.cookies.get(VISITOR, "") or drawn_visitor()
        visit = Visit(
            self._site,
            request.scope.get("root_path", ""),
            request.url.path.removeprefix(request.scope.get("root_path", "")),
            {name: str(value) for name, value in request.path_params.items()},
            visitor=visitor[:100],
            part="hx-request" in request.headers,
            address=self._address or self._found_at(request),
        )
        try:
            visit = self._known(visit, request, path)
            visit = replace(visit, sent=SentForm.of(request.url.query))
            if request.method == "POST":
                if body is None:
                    raise TooLarge("a form", f"it has more than {LONGEST} bytes, or does not arrive", "Send less.")
                visit = replace(visit, form=SentForm.of(body))
                _check_own(visit, request)
            maker = path.sent if request.method == "POST" else path.shown
            assert maker is not None
            reply = maker(visit)
        except DiscreetError as why:
            reply = refused(visit, why)
        except (sqlite3.Error, OSError) as why:
            reply = refused(visit, _failed(why))
        except Exception as why:  # its text could hold what was sent, or a path
            print(f"a page was not made: {type(why).__name__}", file=sys.stderr, flush=True)
            reply = refused(visit, _mistaken())
        fresh = VISITOR not in request.cookies and visit.session is None
        return replace(reply, cookies={VISITOR: visitor, **reply.cookies}) if fresh else reply

    def _found_at(self, request: Request) -> str:
        """The address by which the browser found the site, if it is one; it is shown and never followed."""
        host = request.headers.get("host", "")
        named = host if HOST.fullmatch(host) else f"{self._site.file.host}:{self._site.file.port}"
        return f"http{'s' * self._secure}://{named}"

    def _known(self, visit: Visit, request: Request, path: PagePath) -> Visit:
        """The visit with who sends it; refused where that must be known, and is not."""
        token = request.cookies.get(SESSION, "")
        try:
            session = self._site.session(token)
            caller = self._site.caller_of(token)
        except Unrecognised:
            if path.anybody:
                return visit
            raise
        self._site.desk.count(caller)
        return replace(visit, session=session, caller=caller)

    def _response(self, reply: PageReply) -> Response:
        from starlette.responses import Response

        response = Response(reply.body, reply.status, dict(reply.headers), reply.kind)
        for name, value in reply.cookies.items():
            if value is None:
                response.delete_cookie(name, "/", secure=self._secure, httponly=True, samesite="strict")
            else:
                response.set_cookie(name, value, path="/", secure=self._secure, httponly=True, samesite="strict")
        return response


def refused(visit: Visit, why: DiscreetError) -> PageReply:
    """The page of a refusal: what stood in the way, what happened to the account, what would work."""
    status = status_of(why)
    if status is HTTPStatus.UNAUTHORIZED and visit.caller is None:
        told = None if visit.path in OPEN else why
        return open_pages.sign_in(visit, status, told)
    if visit.part:
        return visit.page("refused_part", status.value, refusal=why)
    return visit.page("refused", status.value, refusal=why, title=status.phrase)


def _failed(why: Exception) -> ReadOnlySite:
    """The refusal where a file of the site cannot be used; what it says may have paths in it, and is not shown."""
    obstacle = f"a file of this site cannot be used ({type(why).__name__})"
    return ReadOnlySite("a page", obstacle, "Tell the owner of the site; what was paid for is in the ledger.")


def _mistaken() -> ReadOnlySite:
    obstacle, kept = "this program made a mistake", "What was charged stays so."
    return ReadOnlySite("a page", obstacle, "Tell the curator.", kept)


def _nowhere(visit: Visit) -> PageReply:
    """What is of no page: programs are answered by the API itself."""
    if visit.path.startswith("/api/"):
        text = '{"error": "NotHere", "obstacle": "not found", "remedy": "See /api/openapi.json for what can be asked."}'
        return PageReply(text, HTTPStatus.NOT_FOUND.value, "application/json")
    raise no_such("page", visit.path)


def _check_own(visit: Visit, request: Request) -> None:
    """Refuse a form that does not come from a page of this console."""
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        raise ParameterError("a form", "it comes from another site", "Send it from a page of this console.")
    sent = visit.form.text("csrf")
    if visit.session is not None:
        check_csrf(visit.session, sent)
    elif not is_form_of(visit.visitor, sent):
        raise ParameterError("a form", "it does not come from a page that you were shown", "Load the page again.")


async def _body(request: Request) -> bytes | None:
    """What a form sends; None where it is too long, too slow, of another kind, or whoever sends it is gone."""
    from starlette.requests import ClientDisconnect

    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return None
    found = bytearray()
    try:
        async with asyncio.timeout(PATIENCE):
            async for chunk in request.stream():
                found += chunk
                if len(found) > LONGEST:
                    return None
    except (TimeoutError, ClientDisconnect):
        return None
    return bytes(found)


async def _asset(request: Request) -> Response:
    from starlette.responses import Response

    found = assets().get(request.path_params["file"])
    if found is None:
        return Response("there is no such file", 404, media_type="text/plain")
    reply = PageReply.asset(found.packed, found.kind)
    return Response(reply.body, reply.status, dict(reply.headers), reply.kind)


def paths() -> Mapping[str, PagePath]:
    """All paths, by their texts: for tests and the manual."""
    return {one.path: one for one in PATHS}
