"""How much one question at a site may ask for: its answer is made and kept in a process that is everybody's.

What the library bounds by what a single program can hold is bounded here by what many callers can be given at a time.
All that is looked at is public: what is refused was neither charged nor noted.
"""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from discreet.core.errors import ParameterError
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.query.asked_question import AskedQuestion, learners
from discreet.query.words import declared

MOST_COUNTED = 2**14  # bins, parts, steps and whatever else is counted by a parameter
MOST_MADE_UP = 2**22  # values in a table of records that are made up
LISTED = 2**10  # numbers in a list, such as the levels of quantiles
SIZELESS = frozenset({"expected_size", "random_state", "time"})  # whole numbers that make no answer larger


def check_size(asked: AskedQuestion, columns: int) -> None:
    """Refuse a question whose parameters ask for more than a site makes at once.

    Parameters
    ----------
    asked : AskedQuestion
        As it was read.
    columns : int
        Public. How many the data set has.

    Examples
    --------
    >>> check_size(AskedQuestion.read("histogram of age bins=16"), 7)
    >>> check_size(AskedQuestion.read("synthesize rows=16777216"), 7)
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: ask synthesize rows=16777216: rows is 16777216, and a site makes at most \
599,186. Nothing was released or spent. Ask for fewer.
    """
    rows = MOST_MADE_UP // max(columns, 1)
    for name, value in _numbers(asked.options):
        most = rows if name == "rows" else MOST_COUNTED
        if value > most:
            obstacle = f"{name} is {value:.17g}, and a site makes at most {most:,}"
            raise ParameterError(f"ask {asked.name:.80}", obstacle, "Ask for fewer.", most=most)
    for name, value in asked.options.items():
        if isinstance(value, list | tuple) and len(value) > LISTED:
            obstacle = f"{name} lists {len(value):,}, and a site makes at most {LISTED:,}"
            raise ParameterError(f"ask {asked.name:.80}", obstacle, "Ask for fewer.", most=LISTED)


def _numbers(given: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """All numbers that a question gives for what is counted, those of learners inside learners too."""
    for path, value in given.items():
        name = path.rpartition("__")[2]
        for one in _parts(value):
            if isinstance(one, PrivateEstimator):
                yield from _numbers(vars(one))
            elif isinstance(one, Mapping):
                yield from _numbers({key: part for key, part in one.items() if isinstance(key, str)})
            elif name in counted() and isinstance(one, int | float):
                yield name, one


def _parts(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        for one in value:
            yield from _parts(one)
    else:
        yield value


@functools.cache
def counted() -> frozenset[str]:
    """The parameters of statistics and learners that are whole numbers, but for those that make nothing larger."""
    kinds: tuple[Callable[..., Any], ...] = (*declared().values(), *learners().values())
    taken = (one for kind in kinds for one in inspect.signature(kind).parameters.values())
    return frozenset(one.name for one in taken if re.search(r"\bint\b", str(one.annotation))) - SIZELESS
