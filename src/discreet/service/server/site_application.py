"""A site over HTTP: keys in, refusals out, answers at public moments. Nothing about a caller is logged."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from http import HTTPStatus
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from discreet.core.errors import DiscreetError
from discreet.core.held import unheld
from discreet.service.server.api_description import description
from discreet.service.server.api_fields import MOST_BODY, taken
from discreet.service.server.api_ways import WAYS, ApiReply, ApiWay
from discreet.service.server.handing_over import HandingOver
from discreet.service.server.site import Site
from discreet.service.server.site_counts import SiteCounts
from discreet.service.server.site_file import UserEntry
from discreet.service.server.site_refusals import HungUp, TooLarge, TooMany, Unrecognised, plain_refusal, status_of

THREADS = 128  # requests that are worked on at a time
REPEATED = 4096  # requests that are known by their bytes
STRANGERS = 32  # keys that are looked at through scrypt, or wait for it
HEADERS = {
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
}
PLAIN = [(name.encode(), value.encode()) for name, value in (*HEADERS.items(), ("content-type", "application/json"))]
BEARER = "bearer "
ASK = next(way for way in WAYS if way.path.endswith("/ask"))
BEFORE_NAME, AFTER_NAME = ASK.path.split("{name}")


@unheld("own turns")
class SiteApplication:
    """What answers requests: it reads them, has the site do what they ask, and waits until an answer is due.

    Parameters
    ----------
    site : Site
        Open; whoever opened it closes it.
    """

    def __init__(self, site: Site) -> None:
        self.site, self.counts = site, SiteCounts()
        self._again: dict[tuple[str, str, bytes], tuple[str, bool]] = {}  # touched by the loop's thread alone
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="request")
        self._handing = HandingOver()
        self._scrypt = ThreadPoolExecutor(2, thread_name_prefix="key")
        self._strangers = threading.BoundedSemaphore(STRANGERS)

    @staticmethod
    def asks(scope: Any) -> str | None:
        """The data set that a request asks; None of whatever else arrives."""
        if scope["type"] != "http" or scope["method"] != ASK.method:
            return None
        path: str = scope["path"]
        name = path[len(BEFORE_NAME) : -len(AFTER_NAME)]
        fits = path.startswith(BEFORE_NAME) and path.endswith(AFTER_NAME) and name and "/" not in name
        return name if fits else None

    async def answer(self, request: Request, name: str) -> Response:
        """The response to a question: the way that is used most, taken without routes and what comes with them."""
        return await self._counted(ASK.path, self._asked(request, name))

    def routes(self) -> list[BaseRoute]:
        """The ways of the API, their description, and figures for those who watch the site."""
        found: list[BaseRoute] = [Route(way.path, self._endpoint(way), methods=[way.method]) for way in WAYS]
        found.append(Route("/api/openapi.json", self._described, methods=["GET"]))
        found.append(Route("/api/health", self._health, methods=["GET"]))
        found.append(Route("/api/metrics", self._metrics, methods=["GET"]))
        return found

    def close(self) -> None:
        """Begin nothing more."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._scrypt.shutdown(wait=False, cancel_futures=True)

    def _endpoint(self, way: ApiWay) -> Callable[[Request], Any]:
        async def answer(request: Request) -> Response:
            return await self._counted(way.path, self._done(way, request))

        return answer

    async def _counted(self, path: str, work: Any) -> Response:
        """Count an answer by its way and status: never by who asked, or what."""
        began = time.monotonic()
        response: Response = await refused_plainly(work)
        self.counts.note(path, response.status_code, time.monotonic() - began)
        return response

    async def _done(self, way: ApiWay, request: Request) -> Response:
        caller = await self.caller(request)
        body = await body_of(request) if way.method == "POST" else b""
        named = {name: str(value) for name, value in request.path_params.items()}
        said = taken(body, way.fields) if way.method == "POST" else {}
        return await self._replied(way, caller, named, said)

    async def _asked(self, request: Request, name: str) -> Response:
        caller = await self.caller(request)
        body = await body_of(request)
        if (again := self._sent_again(caller, name, body)) is not None:
            return sent_bytes(again)
        said = taken(body, ASK.fields)
        quick = self.site.remembered(caller, name, said)
        if quick is None:
            return await self._replied(ASK, caller, {"name": name}, said)
        stored = said.get("stored", False)
        self._note(caller, name, body, quick.id, stored)
        return sent_bytes(quick.written(stored))

    async def _replied(self, way: ApiWay, caller: UserEntry, named: dict[str, str], said: dict[str, Any]) -> Response:
        """What the site does, in a thread; it leaves at its moment."""
        reply, text = await self.in_thread(partial(self._acted, way, caller, named, said))
        left = reply.due - time.monotonic()
        if left > 0:
            await asyncio.sleep(left)
        return sent_bytes(text, reply.status)

    def _sent_again(self, caller: UserEntry, name: str, body: bytes) -> bytes | None:
        """What this caller was sent before for the very same bytes; None where that has to be looked up."""
        id, stored = self._again.get(_request(caller, name, body), ("", False))
        found = self.site.due_answer(caller, name, id) if id else None
        return None if found is None else found.written(stored)

    def _note(self, caller: UserEntry, name: str, body: bytes, id: str, stored: bool) -> None:
        self._again[_request(caller, name, body)] = id, stored
        while len(self._again) > REPEATED:
            del self._again[next(iter(self._again))]

    def _acted(
        self, way: ApiWay, caller: UserEntry, named: dict[str, str], said: dict[str, Any]
    ) -> tuple[ApiReply, bytes]:
        """What is replied, and how it is written: that is not the work of the thread that listens."""
        reply = way.act(self.site, caller, named, said)
        return reply, json_of(reply.content)

    async def in_thread(self, work: Callable[[], Any]) -> Any:
        """What a function gives that may wait for a ledger or a worker."""
        return await self._handing.done(self._threads, work)

    async def caller(self, request: Request) -> UserEntry:
        """Who asks, by the key in the header; each request is counted."""
        said = request.headers.get("authorization", "")
        key = said[len(BEARER) :] if said[: len(BEARER)].lower() == BEARER else ""
        found = self.site.known_caller(key) or await self._recognised(key)
        self.site.desk.count(found)
        return found

    async def _recognised(self, key: str) -> UserEntry:
        """Look at a key through scrypt, beside requests of callers that are known."""
        if not key:
            raise Unrecognised("this site", "no key was sent", "Send a header: Authorization: Bearer KEY.")
        if not self._strangers.acquire(blocking=False):
            raise TooMany("a request", "too many keys are being looked at", "Wait a little.")
        try:
            return await asyncio.get_running_loop().run_in_executor(self._scrypt, self.site.caller, key)
        finally:
            self._strangers.release()

    async def _described(self, request: Request) -> Response:
        return sent(description())

    async def _health(self, request: Request) -> Response:
        return sent({"site": "open"})

    async def _metrics(self, request: Request) -> Response:
        return await self._counted("/api/metrics", self._measured(request))

    async def _measured(self, request: Request) -> Response:
        caller = await self.caller(request)
        if caller.role == "analyst":
            raise HTTPException(HTTPStatus.NOT_FOUND)
        text = await self.in_thread(lambda: self.counts.text(self.site, caller))
        return Response(text, media_type="text/plain; version=0.0.4", headers=HEADERS)


def _request(caller: UserEntry, name: str, body: bytes) -> tuple[str, str, bytes]:
    """What a question is known by once it was answered: who sent these bytes, and about what."""
    return caller.name, name, hashlib.sha256(body).digest()


async def body_of(request: Request, most: int = MOST_BODY) -> bytes:
    """The body of a request, if it is not too large."""
    parts, size = [], 0
    try:
        async for part in request.stream():
            size += len(part)
            if size > most:
                raise TooLarge("a request", f"its body has more than {most:,} bytes", "Ask less at once.")
            parts.append(part)
    except ClientDisconnect:
        raise HungUp("a request", "the line was closed before all of it was there", "Send it again.") from None
    return b"".join(parts)


async def refused_plainly(work: Any) -> Response:
    """The response of some work; of a refusal, its parts; of a mistake in this program, that there was one."""
    try:
        response: Response = await work
    except HTTPException as why:
        return _http_refusal(why)
    except DiscreetError as why:
        return sent(plain_refusal(why), status_of(why))
    except Exception as why:  # its text could hold what was sent, or a path
        print(f"a request was not answered: {type(why).__name__}", file=sys.stderr, flush=True)
        return _mistake()
    return response


def sent(content: Any, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """JSON, with headers that let no page do anything with it."""
    return sent_bytes(json_of(content), status)


def json_of(content: Any) -> bytes:
    """JSON as it is sent."""
    return json.dumps(content, allow_nan=False, separators=(",", ":")).encode()


class Sent(Response):
    """JSON with the headers of all that are sent, which are not made anew."""

    def __init__(self, text: bytes, status: HTTPStatus) -> None:
        self.body, self.status_code, self.background = text, int(status), None
        self.raw_headers = [*PLAIN, (b"content-length", b"%d" % len(text))]


def sent_bytes(text: bytes, status: HTTPStatus = HTTPStatus.OK) -> Response:
    """The same, of JSON that is written already."""
    if status in (HTTPStatus.OK, HTTPStatus.ACCEPTED):
        return Sent(text, status)
    more = {"retry-after": "1"} if status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.SERVICE_UNAVAILABLE) else {}
    more |= {"www-authenticate": "Bearer"} if status == HTTPStatus.UNAUTHORIZED else {}
    return Response(text, status, {**HEADERS, **more}, "application/json")


def _http_refusal(why: HTTPException) -> Response:
    status = HTTPStatus(why.status_code)
    refusal = DiscreetError("a request", status.phrase.lower(), "See /api/openapi.json for what can be asked.")
    response = sent({**plain_refusal(refusal), "error": "NotHere" if status == 404 else "Refused"}, status)
    for name, value in (why.headers or {}).items():
        response.headers[name] = value
    return response


def _mistake() -> Response:
    refusal = DiscreetError(
        "a request", "this program made a mistake", "Tell the curator.", "What was charged stays so."
    )
    return sent({**plain_refusal(refusal), "error": "Mistake"}, HTTPStatus.SERVICE_UNAVAILABLE)


async def _not_routed(request: Request, why: Exception) -> Response:
    return _http_refusal(why) if isinstance(why, HTTPException) else _mistake()


def site_application(site: Site, pages: Sequence[BaseRoute] = ()) -> Callable[..., Any]:
    """The application that serves a site: its API and, behind it, pages for people.

    Parameters
    ----------
    site : Site
        Open.
    pages : sequence of routes
        For browsers.
    """
    own = SiteApplication(site)

    @contextlib.asynccontextmanager
    async def life(app: Starlette) -> AsyncIterator[None]:
        yield
        own.close()

    handlers: Any = {HTTPException: _not_routed, Exception: _not_routed}
    app = Starlette(routes=[*own.routes(), *pages], lifespan=life, exception_handlers=handlers)
    app.router.redirect_slashes = False

    async def arrived(scope: Any, receive: Any, send: Any) -> None:
        if (name := own.asks(scope)) is None:
            await app(scope, receive, send)
        else:
            response = await own.answer(Request(scope, receive), name)
            await response(scope, receive, send)

    return arrived
