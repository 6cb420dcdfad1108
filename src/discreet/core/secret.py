"""Values that are never copied or written."""

from __future__ import annotations

from typing import NoReturn


class Secret:
    """Holds records or exact answers, so it is neither copied nor pickled: a copy would be beyond any ledger."""

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"{type(self).__name__} holds records or exact answers and is neither copied nor pickled")
