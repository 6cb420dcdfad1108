"""A browser without a screen, from two packages: `python -m tests.look.browser ARCHIVE` unpacks it here.

Playwright drives it, and npm's `@sparticuz/chromium` has Chromium with the libraries and the font that it needs; its
archive is what `npm pack @sparticuz/chromium@153.0.0` writes. Nothing is taken from the system, so that pictures are
the same everywhere. It runs on Linux on x86-64.
"""

from __future__ import annotations

import hashlib
import io
import os
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

DIGEST = "20e5656fcdcf4118ede85edfb9d6bb9cc1bbb7ffb8b75622fffbcf36a835c3c0"
PLACE = Path(sys.prefix) / "chromium"
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{place}/fonts</dir><cachedir>{place}/cache</cachedir></fontconfig>"""


def unpack(archive: str) -> None:
    """Check that the package is the one that was looked at, and unpack what it has."""
    import brotli

    packed = Path(archive).read_bytes()
    found = hashlib.sha256(packed).hexdigest()
    if found != DIGEST:
        raise SystemExit(f"{archive} has the digest {found}; {DIGEST} is expected. Nothing was unpacked.")
    PLACE.mkdir(exist_ok=True)
    with tarfile.open(fileobj=io.BytesIO(packed)) as package:
        for name in ("al2023", "swiftshader", "fonts"):
            inner = brotli.decompress(_member(package, f"{name}.tar.br"))
            with tarfile.open(fileobj=io.BytesIO(inner)) as files:
                files.extractall(PLACE, filter="data")
        (PLACE / "chromium").write_bytes(brotli.decompress(_member(package, "chromium.br")))
    (PLACE / "fonts.conf").write_text(FONTS.format(place=PLACE))
    (PLACE / "chromium").chmod(0o755)


def _member(package: tarfile.TarFile, name: str) -> bytes:
    found = package.extractfile(f"package/bin/{name}")
    assert found is not None
    return found.read()


@contextmanager
def opened() -> Iterator[Any]:
    """The browser, until the block ends."""
    from playwright.sync_api import sync_playwright

    here = {"LD_LIBRARY_PATH": str(PLACE / "lib"), "FONTCONFIG_FILE": str(PLACE / "fonts.conf"), "HOME": str(PLACE)}
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=PLACE / "chromium",
            env={**os.environ, **here},
            args=["--no-sandbox", "--disable-gpu", "--disable-lcd-text", "--font-render-hinting=none"],
        )
        yield browser
        browser.close()


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit("Which archive? Get it by `npm pack @sparticuz/chromium@153.0.0`, and give its path.")
    unpack(sys.argv[1])
