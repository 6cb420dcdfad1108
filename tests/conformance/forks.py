"""What happens to a fork of this process."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Literal

from discreet.core.errors import DiscreetError

End = Literal["refused", "done", "failed"]
ENDS: tuple[End, ...] = ("refused", "done", "failed")


def in_a_fork(use: Callable[[], object]) -> End:
    """How a child of this process ends: refused, because it is one; done; or failed for another reason."""
    child = os.fork()
    if child == 0:
        end: End = "failed"
        try:
            use()
            end = "done"
        except DiscreetError as error:
            end = "refused" if "this process is a fork" in str(error) else "failed"
        finally:
            os._exit(ENDS.index(end))
    return ENDS[os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])]
