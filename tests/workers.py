"""Which tests run in one worker: those of a file, and those of all files that name one group.

So what the tests of a file share is made once, and so is a server that takes long to start. A file names its group by
the mark that xdist has for it, `pytest.mark.xdist_group("spark")`. Only its text is asked: xdist itself would write
groups into the names of tests, which pytest no longer lets it do.
"""

from __future__ import annotations

import functools
import re
from pathlib import Path

from xdist.scheduler import LoadScopeScheduling

ROOT = Path(__file__).parents[1]
NAMED = re.compile(r'xdist_group\("(\w+)"\)')


class ByGroup(LoadScopeScheduling):
    """Sends the tests of a group to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return group(nodeid.partition("::")[0])


@functools.cache
def group(file: str) -> str:
    """The group that a test file names; else its own."""
    found = NAMED.search((ROOT / file).read_text(encoding="utf-8")) if file.startswith("tests/") else None
    return found[1] if found else file
