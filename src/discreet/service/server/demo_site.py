"""A site on the sample table, in a folder that is thrown away: to try things out."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Self

from discreet.core.budget import Budget
from discreet.service.server.new_site import FILE, new_site
from discreet.service.server.serving_site import served
from discreet.service.server.site import Site


class DemoSite:
    """Serves the sample table from a thread of this process, to two users: `guest` and `curator`.

    Parameters
    ----------
    budget : Budget, optional
        Public. Of its account; epsilon 10 and delta 1e-6 by default.

    Examples
    --------
    >>> import discreet
    >>> with DemoSite() as demo:
    ...     with discreet.connect(demo.address, key=demo.keys["guest"]) as site:
    ...         list(site)
    ['patients']
    """

    def __init__(self, budget: Budget | None = None) -> None:
        self._open = ExitStack()
        try:
            folder = Path(self._open.enter_context(tempfile.TemporaryDirectory(prefix="discreet-demo-")))
            new_site(folder, budget, demo=True)
            self.site = self._open.enter_context(Site.open(folder / FILE))
            self.keys = {name: self.site.keys.drawn(name) for name in self.site.file.users}
            self.address = self._open.enter_context(served(self.site)).address
        except BaseException:
            self._open.close()
            raise

    def close(self) -> None:
        """End it; what was asked of it is forgotten."""
        self._open.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *why: object) -> None:
        self.close()
