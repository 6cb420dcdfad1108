"""What an engine gives, without its errors: they may quote a record, and are not passed on, nor kept as a context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from discreet.core.errors import DiscreetError

Result = TypeVar("Result")


def shielded(asked: str, action: Callable[[], Result]) -> Result:
    """What an engine gives at once; `asked` is what was read, for the error."""
    try:
        return action()
    except DiscreetError:
        raise
    except Exception as why:
        error = withheld(asked, why)
    raise error


def shielded_all(asked: str, action: Callable[[], Iterable[Result]]) -> Iterator[Result]:
    """What an engine gives one by one."""
    try:
        yield from action()
        return
    except DiscreetError:
        raise
    except Exception as why:
        error = withheld(asked, why)
    raise error


def withheld(asked: str, why: Exception) -> DiscreetError:
    """An engine's error without its words."""
    return DiscreetError(
        asked,
        f"its engine failed while reading records ({type(why).__name__}; its message is withheld, as it may quote one)",
        "Read it without this library to see why.",
        "Nothing was released.",
    )
