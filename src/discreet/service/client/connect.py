"""A connection to a site, whose data sets are asked as if they were here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Self

from discreet.display.plain import plain
from discreet.query.schema_file import read_document
from discreet.service.client.site_ledger import SiteLedger
from discreet.service.client.site_line import SiteLine, fields_of
from discreet.trust.private_data import PrivateData
from discreet.trust.worker.records_place import RecordsPlace
from discreet.trust.worker.worker_line import RestingLine
from discreet.trust.worker.worker_trust import WorkerTrust

KINDS: dict[str, Any] = {"schema": dict, "units": int | None, "curated": bool, "rereads": bool, "shows_all_rows": bool}
"""What a site says of a data set."""


class SiteConnection:
    """A site as one of its users sees it; `site["patients"]` is a data set.

    Parameters
    ----------
    line : SiteLine
        To the site, with a key.
    """

    def __init__(self, line: SiteLine) -> None:
        self._line = line
        said = fields_of(line.get("me"), line.address, site=str, user=str, role=str)
        self._me = {name: plain(text) for name, text in said.items()}

    def __getitem__(self, name: str) -> PrivateData:
        """A data set, to be asked by statistics, learners, `plan`, `sql` and all else that asks private data."""
        view = fields_of(self._line.get("data", name), f"data set {name}", **KINDS)
        described = read_document(view["schema"], f"data set {name}")
        place = RecordsPlace(name, None, described.schema, described.neighbors, described.unit)
        trust = WorkerTrust(RestingLine(place, {fact: view[fact] for fact in KINDS if fact != "schema"}))
        return PrivateData(trust, SiteLedger(self._line, name, described))

    def __iter__(self) -> Iterator[str]:
        """The names of the data sets that there are for this user."""
        asked = f"data sets of {self.address}"
        found = fields_of(self._line.get("data"), asked, data=list)["data"]
        return iter([plain(fields_of(one, asked, name=str)["name"]) for one in found])

    def ask(self, name: str, question: Any, *, epsilon: float, delta: float = 0.0, key: str | None = None) -> Any:
        """The answer to a question in words or SQL, as plain numbers, texts and lists.

        Parameters
        ----------
        name : str
            Public. The data set.
        question : str or dict
            Public. Such as "mean of age by sex", or "SELECT ...".
        epsilon, delta : float
            Public. What it may cost.
        key : str, optional
            Public. Makes a retry safe.
        """
        given = {} if key is None else {"key": key}
        return self._line.post("data", name, "ask", question=question, epsilon=epsilon, delta=delta, **given)[1]

    def asked(self) -> list[dict[str, Any]]:
        """The questions of this user, the newest first, with what became of them."""
        found: list[dict[str, Any]] = fields_of(self._line.get("asked"), self.address, asked=list)["asked"]
        return found

    def answer(self, id: str) -> Any:
        """The answer to an own question, once more and for nothing; or what it waits for."""
        return self._line.post("asked", id, "answer")[1]

    def close(self) -> None:
        """End the connection."""
        self._line.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"{self._me['site']} at {self.address}, as {self._me['user']} ({self._me['role']})"

    @property
    def address(self) -> str:
        """Where it is."""
        return self._line.address


def connect(address: str, *, key: str, trusted: str | Path | None = None, timeout: float = 120.0) -> SiteConnection:
    """Connect to a site whose data sets may be asked with this key.

    Parameters
    ----------
    address : str
        Public. Such as "https://site.example:8400"; "http://" for one on this machine.
    key : str
        The API key that the site gave out.
    trusted : path, optional
        Certificates to trust in place of the system's.
    timeout : float
        Seconds that an answer may take to arrive.

    Returns
    -------
    SiteConnection
        `site["patients"]` is private data: `discreet.mean(site["patients"], "age", epsilon=0.1)` is charged and
        answered there. A retry with the same `key` of a question is charged once.

    Examples
    --------
    >>> import discreet
    >>> from discreet.service.server.demo_site import DemoSite
    >>> with DemoSite() as demo, connect(demo.address, key=demo.keys["guest"]) as site:
    ...     bool(abs(discreet.mean(site["patients"], "age", epsilon=0.5).value - 52) < 5)
    True
    """
    line = SiteLine(address, key, trusted, timeout)
    try:
        return SiteConnection(line)
    except BaseException:
        line.close()
        raise
