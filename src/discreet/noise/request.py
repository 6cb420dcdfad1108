"""What may be asked of a sampler: a size and a scale."""

from __future__ import annotations

from operator import index

from discreet.core.errors import ParameterError

Size = int | tuple[int, ...]
SMALLEST, LARGEST = 1e-6, 2.0**52


def checked_shape(asked: str, size: Size) -> tuple[int, ...]:
    """The shape that a size stands for.

    Examples
    --------
    >>> checked_shape("noise", 3), checked_shape("noise", (2, 3))
    ((3,), (2, 3))
    """
    shape = tuple(map(index, size)) if isinstance(size, tuple) else (index(size),)
    if min(shape, default=0) < 0:
        raise ParameterError(asked, f"the size is {size}", "Give sizes of at least 0.", size=size)
    return shape


def checked_scale(asked: str, scale: float) -> float:
    """The scale as a float, if it is one that the samplers can serve."""
    if not SMALLEST <= scale <= LARGEST:
        obstacle = f"the scale is {scale} grid steps; it must lie between 1e-6 and 2**52"
        raise ParameterError(asked, obstacle, "Choose the grid so that the scale is near 2**30 steps.", scale=scale)
    return float(scale)
