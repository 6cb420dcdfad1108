"""Files that pages load: one sheet, one script, one picture, all of this package, compressed once."""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from discreet.display.document import STYLE

PLACE = Path(__file__).with_name("assets")


@dataclass(frozen=True)
class Asset:
    """A file as it is sent.

    Parameters
    ----------
    kind : str
        Its media type.
    content : bytes
        What is in it.

    Examples
    --------
    >>> asset = Asset("text/css", b"p { margin: 0 }")
    >>> asset.version, gzip.decompress(asset.packed) == asset.content
    ('ec85a1831a0e', True)
    """

    kind: str
    content: bytes

    @property
    def packed(self) -> bytes:
        """The same, compressed. Nothing of a request is in it, so that its length tells nothing."""
        return _packed(self.content)

    @property
    def version(self) -> str:
        """What changes when the content does: browsers keep a file for as long as its address is the same."""
        return hashlib.sha256(self.content).hexdigest()[:12]


@cache
def _packed(content: bytes) -> bytes:
    return gzip.compress(content, mtime=0)


@cache
def assets() -> Mapping[str, Asset]:
    """All files, by their names."""
    own = (PLACE / "console.css").read_text(encoding="utf-8")
    return {
        "site.css": Asset("text/css; charset=utf-8", (STYLE + own).encode()),
        "htmx.min.js": Asset("text/javascript; charset=utf-8", (PLACE / "htmx.min.js").read_bytes()),
        "icon.svg": Asset("image/svg+xml", (PLACE / "icon.svg").read_bytes()),
    }
