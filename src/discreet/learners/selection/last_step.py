"""Methods that a pipeline or a search has where what predicts in the end has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.utils.metaestimators import available_if

F = TypeVar("F", bound=Callable[..., Any])


def last_has(name: str) -> Callable[[F], F]:
    """Make a method available where the last step has one of this name."""
    return cast(Callable[[F], F], available_if(lambda whole: hasattr(_last(whole), name)))


def _last(whole: Any) -> Any:
    """What predicts in the end: the last step of a pipeline, the estimator of a search."""
    if hasattr(whole, "estimator"):
        return whole.estimator
    return whole.steps[-1][1] if whole.steps else None
