"""What an engine gives, without its errors: they may quote a record, and are not passed on, nor kept as a context."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeVar

from discreet.core.errors import DiscreetError, EngineFailure

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


def check_reachable(asked: str, action: Callable[[], object], remedy: str) -> None:
    """Refuse records that cannot be read, found out by an action that reads none; nothing was charged yet."""
    try:
        action()
        return
    except Exception as why:
        error = EngineFailure(asked, f"its records cannot be read now ({type(why).__name__})", remedy)
    raise error


def withheld(asked: str, why: Exception) -> EngineFailure:
    """An engine's error without its words."""
    return EngineFailure(
        asked,
        f"its engine failed while reading records ({type(why).__name__}; its message is withheld, as it may quote one)",
        "Read it without this library to see why.",
    )
