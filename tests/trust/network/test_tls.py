"""Whoever is in the federation can talk; nobody else can."""

from __future__ import annotations

import asyncio
import datetime
import os
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

import discreet.trust.network.tls as tls
from discreet.crypto.certificate import PartyCertificate, is_covered, to_pem
from discreet.crypto.errors import UnknownParty
from discreet.crypto.identity import Identity
from discreet.noise.system_bits import system_bits
from discreet.trust.federation import Federation
from discreet.trust.network.link import Link, called, host_and_port
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
