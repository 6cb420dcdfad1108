"""A site that listens: TLS where others could read along, bounded lines, no logs of who asked what."""

from __future__ import annotations

import contextlib
import importlib.util
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import MissingExtra, ParameterError
from discreet.core.garbage import collect_seldom
from discreet.service.server.question_size import counted
from discreet.service.server.site import Site

BACKLOG = 2048


@dataclass(frozen=True)
class ServedSite:
    """A site that answers, and where."""

    site: Site
    address: str


def check_installed() -> None:
    """Refuse without what serves it."""
    for name in ("starlette", "uvicorn", "httptools"):
        if importlib.util.find_spec(name) is None:
            raise MissingExtra("serve", f"{name} is not installed", "Run: pip install 'discreet[server]'.")


def uvicorn_server(site: Site, pages: Sequence[Any] = ()) -> Any:
    """The server of a site, not yet listening."""
    check_installed()
    import uvicorn

    from discreet.service.server.bounded_protocol import BoundedProtocol
    from discreet.service.server.site_application import site_application

    certificate, key = site.file.certificate or (None, None)
    config = uvicorn.Config(
        site_application(site, pages),
        http=BoundedProtocol,
        ws="none",
        access_log=False,
        log_level="critical",
        server_header=False,
        date_header=False,
        proxy_headers=False,
        timeout_keep_alive=20,
        timeout_graceful_shutdown=5,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        ssl_version=ssl.PROTOCOL_TLS_SERVER,
    )
    try:
        config.load()
    except (OSError, ssl.SSLError) as why:
        obstacle = f"the certificate cannot be used ({type(why).__name__})"
        raise ParameterError(f"serve {site.file.path}", obstacle, "Give PEM files in [tls].") from why
    if config.ssl is not None:
        config.ssl.minimum_version = ssl.TLSVersion.TLSv1_2
    return uvicorn.Server(config)


def listening(site: Site) -> socket.socket:
    """The socket of a site's address."""
    site.file.check_covered()
    family = socket.AF_INET6 if ":" in site.file.host else socket.AF_INET
    found = socket.socket(family, socket.SOCK_STREAM)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((site.file.host, site.file.port))
    except OSError as why:
        found.close()
        obstacle = f"cannot listen at {site.file.host}:{site.file.port} ({why.strerror or why})"
        raise ParameterError(f"serve {site.file.path}", obstacle, "Choose another address in the file.") from why
    found.listen(BACKLOG)
    return found


def address_of(site: Site, listens: socket.socket) -> str:
    """Where browsers and clients find it."""
    host, port = listens.getsockname()[:2]
    scheme = "http" if site.file.certificate is None else "https"
    return f"{scheme}://{f'[{host}]' if ':' in host else host}:{port}"


def serve(site: Site, tell: Callable[[str], None], pages: Sequence[Any] = ()) -> None:
    """Serve until the process is told to end; the address is told once it listens."""
    server = uvicorn_server(site, pages)
    threading.Thread(target=make_ready, daemon=True, name="ready").start()
    with contextlib.closing(listening(site)) as listens:
        tell(address_of(site, listens))
        server.run(sockets=[listens])


def make_ready() -> None:
    """Load what the first question would have to wait for: all that can be asked."""
    counted()
    collect_seldom()


@contextlib.contextmanager
def served(site: Site, pages: Sequence[Any] = ()) -> Iterator[ServedSite]:
    """A site that is served by a thread of this process, until the block ends."""
    server = uvicorn_server(site, pages)
    listens = listening(site)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listens]}, daemon=True)
    thread.start()
    try:
        while not server.started and thread.is_alive():
            time.sleep(0.01)
        yield ServedSite(site, address_of(site, listens))
    finally:
        server.should_exit = True
        thread.join(10)
        listens.close()
