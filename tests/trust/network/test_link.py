"""Lines of frames: whole, in order, and broken in one way only."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

import discreet.trust.network.link as link_module
import discreet.trust.network.link as tls
from discreet.core.errors import ParameterError
from discreet.crypto.certificate import PartyCertificate, is_covered, to_pem
from discreet.crypto.errors import UnknownParty
from discreet.crypto.identity import Identity
from discreet.noise.system_bits import system_bits
from discreet.trust.federation import Federation
from discreet.trust.network.link import Link, address_of, called, host_and_port
from discreet.trust.network.listener import listening
from tests.trust.network.stage import NAMES, SCHEMA, federation, identity

EAST, SERVER = identity("east"), identity("server")


async def call(caller: Identity, callee: Identity, theirs: Federation, ours: Federation) -> list[str]:
    """Whom each end meets, the caller's end first; a call that comes to nothing is a `ConnectionError`."""
    met: asyncio.Queue[Link] = asyncio.Queue()
    line = await listening("127.0.0.1:0", callee, theirs, met.put)
    try:
        link = await called(line.address, caller, ours)
        try:
            await link.send(b"hello")
            taken = asyncio.ensure_future(met.get())
            heard = asyncio.ensure_future(link.receive(0))  # of a line that is refused, its end
            await asyncio.wait([taken, heard], return_when=asyncio.FIRST_COMPLETED)
            if not taken.done():
                taken.cancel()
                await heard
            heard.cancel()
            other = taken.result()
            await other.down()
            return [link.name, other.name]
        finally:
            await link.down()
    finally:
        await line.close()


MOST = 1 << 24


def meet(
    caller: Identity = SERVER,
    callee: Identity = EAST,
    theirs: Federation | None = None,
    ours: Federation | None = None,
) -> list[str]:
    return asyncio.run(call(caller, callee, theirs or federation(), ours or federation()))


def changed(card: PartyCertificate) -> Federation:
    """The federation with another card for east."""
    cards = (card, *(PartyCertificate.of(identity(name)) for name in NAMES if name != "east"))
    return Federation(cards, PartyCertificate.of(SERVER), 3, SCHEMA)


def test_members_meet_and_know_each_other() -> None:
    assert meet() == ["east", "server"]
    assert meet(EAST, SERVER) == ["server", "east"]


def test_a_stranger_is_not_listened_to() -> None:
    stranger = Identity.drawn("stranger", system_bits())
    impostor = Identity.drawn("east", system_bits())
    for one in (stranger, impostor):
        with pytest.raises(ConnectionError):
            meet(caller=one, callee=SERVER)
        with pytest.raises(ConnectionError, match="nobody of the federation answers at"):
            meet(callee=one)


def test_another_federations_member_of_the_same_name_is_a_stranger() -> None:
    others = changed(PartyCertificate.of(Identity.drawn("east", system_bits())))
    with pytest.raises(ConnectionError):
        meet(theirs=federation(), ours=others)


def certificate(name: str, key: Ed25519PrivateKey, signer: Identity, year: int = 2090) -> bytes:
    """A certificate for this name and key, signed by somebody."""
    subject, issuer = (x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, one)]) for one in (name, signer.name))
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    first, last = (datetime.datetime(one, 1, 1, tzinfo=datetime.UTC) for one in (2020, year))
    builder = builder.serial_number(7).not_valid_before(first).not_valid_after(last)
    signed = builder.sign(Ed25519PrivateKey.from_private_bytes(signer.secret), None)
    return signed.public_bytes(Encoding.PEM)


def test_an_expired_certificate_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """At both ends, even though all agreed on it."""
    expired = PartyCertificate(certificate("east", Ed25519PrivateKey.from_private_bytes(EAST.secret), EAST, year=2021))
    monkeypatch.setattr(tls, "to_pem", lambda one, word: shown_with(one, expired) if one == EAST else to_pem(one, word))
    both = changed(expired)
    for caller, callee in ((SERVER, EAST), (EAST, SERVER)):
        with pytest.raises(ConnectionError):
            meet(caller, callee, both, both)


def shown_with(identity: Identity, card: PartyCertificate) -> bytes:
    """An identity's file with another certificate for the same key."""
    return to_pem(identity).replace(PartyCertificate.of(identity).certificate, card.certificate)


def test_a_member_cannot_vouch_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """A certificate that west signed for a key of its own, in the name of east."""
    false = Identity.drawn("east", system_bits())
    signed = certificate("east", Ed25519PrivateKey.from_private_bytes(false.secret), identity("west"))
    chain = signed + PartyCertificate.of(identity("west")).certificate
    shown = to_pem(false).replace(PartyCertificate.of(false).certificate, chain)
    monkeypatch.setattr(tls, "to_pem", lambda one, word: shown if one == false else to_pem(one, word))
    with pytest.raises(ConnectionError):
        meet(callee=false)
    with pytest.raises(ConnectionError):
        meet(caller=false, callee=SERVER)


def test_what_is_shown_must_be_on_the_list() -> None:
    assert tls.peer(PartyCertificate.of(EAST).binary, federation()) == "east"
    for shown in (None, b"", PartyCertificate.of(Identity.drawn("east", system_bits())).binary):
        with pytest.raises(UnknownParty, match="not in the federation"):
            tls.peer(shown, federation())


@pytest.mark.parametrize("weakness", ["no certificate", "old TLS"])
def test_who_shows_nothing_or_speaks_old_tls_is_not_listened_to(weakness: str) -> None:
    async def heard() -> bytes:
        met: asyncio.Queue[Link] = asyncio.Queue()
        line = await listening("127.0.0.1:0", SERVER, federation(), met.put)
        secured = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        secured.check_hostname, secured.verify_mode = False, ssl.CERT_NONE
        if weakness == "old TLS":
            secured = tls.context("caller", EAST, federation())
            secured.minimum_version = secured.maximum_version = ssl.TLSVersion.TLSv1_2
        try:
            reader, writer = await asyncio.open_connection(*host_and_port(line.address), ssl=secured)
            try:
                return await asyncio.wait_for(reader.read(), 60)
            finally:
                writer.transport.abort()
        except (ssl.SSLError, ConnectionError):
            return b""
        finally:
            await line.close()
            assert met.empty()

    assert asyncio.run(heard()) == b""


@pytest.mark.parametrize("memory", [True, False])
def test_no_key_is_written_to_disk(memory: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the system has no files in memory, a private one is there for a moment, under a password that is not."""
    seen: list[tuple[bytes, list[int]]] = []
    load = ssl.SSLContext.load_cert_chain

    def noted(made: ssl.SSLContext, path: str, password: str) -> None:
        places = (Path(path), Path(path).parent)
        modes = [one.stat().st_mode & 0o077 for one in places] if tmp_path in places[1].parents else []
        seen.append((Path(path).read_bytes(), modes))
        load(made, path, password=password)

    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr(ssl.SSLContext, "load_cert_chain", noted)
    if not memory:
        monkeypatch.delattr("os.memfd_create", raising=False)
    tls.context("caller", EAST, federation())
    [(data, modes)] = seen
    assert is_covered(data)
    assert b"BEGIN PRIVATE KEY" not in data
    assert list(tmp_path.iterdir()) == []
    if hasattr(os, "memfd_create"):
        assert modes == []
    elif os.name == "posix":
        assert modes[1] == 0


@contextlib.asynccontextmanager
async def line() -> AsyncIterator[tuple[Link, Link]]:
    """Both ends: the server's, who called, and that of east."""
    met: asyncio.Queue[Link] = asyncio.Queue()
    listener = await listening("127.0.0.1:0", identity("east"), federation(), met.put)
    try:
        near = await called(listener.address, identity("server"), federation())
        far = await met.get()
        try:
            yield near, far
        finally:
            await asyncio.gather(near.down(), far.down())
    finally:
        await listener.close()


def on_a_line(play: Callable[[Link, Link], Awaitable[None]]) -> None:
    async def played() -> None:
        async with line() as ends:
            await asyncio.wait_for(play(*ends), 60)

    asyncio.run(played())


def test_frames_arrive_whole_and_in_order() -> None:
    async def play(near: Link, far: Link) -> None:
        frames = [b"", b"x", bytes(range(256)) * 20_000, b"last"]
        sending = asyncio.ensure_future(asyncio.wait([asyncio.ensure_future(send_all(near, frames))]))
        assert [await far.receive(MOST) for _ in frames] == frames
        await sending
        await far.send(b"answer")
        assert await near.receive(MOST) == b"answer"
        assert near.open
        assert far.open

    async def send_all(near: Link, frames: list[bytes]) -> None:
        for frame in frames:
            await near.send(frame)

    on_a_line(play)


@pytest.mark.parametrize("length", [MOST + 1, 2**64 - 1])
def test_a_frame_of_absurd_length_breaks_the_line(length: int) -> None:
    async def play(near: Link, far: Link) -> None:
        near._writer.write(length.to_bytes(8, "big") + b"x" * 1000)
        with pytest.raises(ConnectionError, match=f"line to server is broken .*frame of {length} bytes"):
            await far.receive(MOST)
        assert not far.open
        with pytest.raises(ConnectionError):
            await near.receive(MOST)

    on_a_line(play)


def test_a_receiver_may_allow_less() -> None:
    async def play(near: Link, far: Link) -> None:
        await near.send(b"four")
        await near.send(b"fives")
        assert await far.receive(most=4) == b"four"
        with pytest.raises(ConnectionError, match="5 bytes where 4 are the most"):
            await far.receive(most=4)

    on_a_line(play)


@pytest.mark.parametrize("rest", [b"", b"\0\0\0", (9).to_bytes(8, "big"), (9).to_bytes(8, "big") + b"12345678"])
def test_a_line_that_ends_is_broken_wherever_it_ends(rest: bytes) -> None:
    async def play(near: Link, far: Link) -> None:
        near._writer.write(rest)
        await near.down()
        with pytest.raises(ConnectionError, match="the line to server is broken"):
            await far.receive(MOST)
        assert not near.open
        with pytest.raises(ConnectionError, match="the line to east is broken"):
            await near.send(b"x")

    on_a_line(play)


def test_sending_to_one_who_is_gone_fails_in_the_end() -> None:
    async def play(near: Link, far: Link) -> None:
        far.cut()
        with pytest.raises(ConnectionError, match="the line to east is broken"):
            await send_for_ever(near)
        assert not near.open

    async def send_for_ever(near: Link) -> None:
        while True:
            await near.send(b"x" * 100_000)

    on_a_line(play)


def test_a_line_may_be_closed_again_and_again() -> None:
    async def play(near: Link, far: Link) -> None:
        await near.down()
        near.cut()
        await near.down()
        far.cut()
        far.cut()

    on_a_line(play)


def test_hanging_up_does_not_wait_for_one_who_stopped_listening(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link_module, "GOODBYE", 0.05)

    async def play(near: Link, far: Link) -> None:
        far._reader._transport.pause_reading()  # type: ignore[attr-defined]
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(near.send(bytes(1 << 26)), 0.05)
        await near.down()
        assert not near.open

    on_a_line(play)


def test_signs_of_life_are_asked_for() -> None:
    async def play(near: Link, far: Link) -> None:
        for end in (near, far):
            line = end._writer.get_extra_info("socket")
            assert line.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)
            if hasattr(socket, "TCP_KEEPIDLE"):
                assert line.getsockopt(socket.IPPROTO_TCP, socket.TCP_KEEPIDLE) == 60

    on_a_line(play)


@pytest.mark.parametrize(
    "address", ["", "here", "7000", ":7000", "here:", "here:x", "here:-1", "here:65536", "here:1²", "\0:1"]
)
def test_an_address_is_a_host_and_a_port(address: str) -> None:
    with pytest.raises(ParameterError, match="Write host:port"):
        host_and_port(address)


@pytest.mark.parametrize("address", ["a..b:7000", f"{'x' * 70}.org:7000"])
def test_a_name_that_no_host_can_have_is_found_nowhere(address: str) -> None:
    with pytest.raises(ConnectionError, match="nobody of the federation answers at"):
        asyncio.run(called(address, identity("server"), federation()))


def test_where_nobody_listens_nobody_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    with pytest.raises(ConnectionError, match=f"nobody of the federation answers at {address}"):
        asyncio.run(called(address, identity("server"), federation()))


@pytest.mark.parametrize("host", ["a..b", "203.0.113.7"])
def test_an_address_that_cannot_be_listened_at_is_refused(host: str) -> None:
    with pytest.raises(ParameterError, match="Choose another address"):
        asyncio.run(listening(f"{host}:0", identity("server"), federation(), asyncio.Queue[Link]().put))


def test_a_port_in_use_is_refused() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(ParameterError, match=f"{address} cannot be used"):
            asyncio.run(listening(address, identity("server"), federation(), asyncio.Queue[Link]().put))


def test_addresses_of_both_families_can_be_read_back() -> None:
    class Server:
        def __init__(self, *name: str | int) -> None:
            self.sockets = [self]
            self._name = name

        def getsockname(self) -> tuple[str | int, ...]:
            return self._name

    for name in (("127.0.0.1", 7000), ("::1", 7000, 0, 0)):
        assert host_and_port(address_of(Server(*name))) == name[:2]  # type: ignore[arg-type]
