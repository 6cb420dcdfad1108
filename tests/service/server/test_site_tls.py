"""A site behind TLS: whoever trusts its certificate is answered, and nobody is without it."""

from __future__ import annotations

import socket
import ssl
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

import discreet
from discreet.core.errors import DiscreetError
from discreet.service.client.connect import connect
from discreet.service.server.serving_site import ServedSite, served
from discreet.service.server.site import Site
from tests.service.aggregator.certificates import certificate
from tests.service.server.made_site import TEXT, made_site


@pytest.fixture
def there(tmp_path: Path) -> Iterator[ServedSite]:
    certificate(tmp_path)
    address = 'address = "127.0.0.1:0"'
    tls = '[tls]\ncertificate = "here.pem"\nkey = "here.key"\n\n[limits]'
    text = TEXT.replace("[limits]", tls)
    assert address in text
    with Site.open(made_site(tmp_path, text=text)) as site, served(site) as found:
        yield found


def test_whoever_trusts_its_certificate_is_answered(there: ServedSite) -> None:
    key = there.site.keys.drawn("ann")
    assert there.address.startswith("https://")
    trusted = there.site.file.path.with_name("here.pem")
    with connect(there.address, key=key, trusted=trusted) as site:
        assert abs(discreet.mean(site["patients"], "age", epsilon=0.5).value - 52.4) < 2


def test_a_certificate_that_is_not_trusted_gets_no_key(there: ServedSite) -> None:
    with pytest.raises(DiscreetError, match="certificate"):
        connect(there.address, key=there.site.keys.drawn("ann"))["patients"]
    assert there.site.history(there.site.file.users["cat"], "patients") == ()


def test_what_is_sent_in_the_clear_or_by_an_old_protocol_is_not_answered(there: ServedSite) -> None:
    host, port = there.address.removeprefix("https://").split(":")
    with socket.create_connection((host, int(port)), timeout=10) as line:
        line.sendall(b"GET /api/health HTTP/1.1\r\nHost: x\r\n\r\n")
        assert b"open" not in line.recv(1000)
    old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
    old.set_ciphers("ALL:@SECLEVEL=0")
    with warnings.catch_warnings(action="ignore"):
        old.minimum_version, old.maximum_version = ssl.TLSVersion.TLSv1, ssl.TLSVersion.TLSv1_1
    with socket.create_connection((host, int(port)), timeout=10) as line, pytest.raises((ssl.SSLError, OSError)):
        old.wrap_socket(line)
