"""Answers of a target, counted, with what it refuses left out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import unheld

Queries = NDArray[np.float64]  # a row for each query: one for a record that it adds up, nothing for the others
Answers = Callable[[Queries], Any]


@unheld("one call")
@dataclass
class AskedQueries:
    """A target that adds up a secret bit over sets of records, and how often it was asked.

    Parameters
    ----------
    asked : str
        The attack, for errors.
    target : function
        Takes queries and gives a number for each.
    """

    asked: str
    target: Answers = field(repr=False)
    questions: int = 0
    refused: int = 0

    def __call__(self, queries: Queries) -> Array:
        """One answer for each query; nan where the target raises, or gives what is no number."""
        self.questions += len(queries)
        try:
            answers = self._numbers(queries)
        except ParameterError:
            raise
        except Exception:  # whatever a stranger's target raises is a finding; its queries are asked one by one
            answers = np.array([self._alone(query) for query in queries])
        self.refused += int(np.isnan(answers).sum())
        return answers

    def _alone(self, query: Array) -> float:
        try:
            return float(self._numbers(query[None, :])[0])
        except Exception:
            return np.nan

    def _numbers(self, queries: Queries) -> Array:
        answers = np.asarray(self.target(queries), dtype=np.float64)
        if answers.shape != (len(queries),):
            obstacle = f"the target gave an array of shape {answers.shape} for {len(queries)} queries"
            raise ParameterError(self.asked, obstacle, "Give a function with one number for each row of its queries.")
        return np.where(np.isfinite(answers), answers, np.nan)


def secret_bits(asked: str, truth: ArrayLike) -> Array:
    """The secret bits, one for each record."""
    try:
        bits = np.asarray(truth, dtype=np.float64)
    except (TypeError, ValueError):
        bits = np.array([])
    if bits.ndim != 1 or not len(bits) or not np.isin(bits, (0.0, 1.0)).all():
        raise ParameterError(asked, "`truth` is no list of zeros and ones", "Give one bit for each record.")
    return bits


def likelier(bits: Array) -> float:
    """The rate of whoever always guesses the bit that most records have."""
    return float(max(bits.mean(), 1 - bits.mean()))


def blocks(count: int, size: int) -> Iterator[int]:
    """The sizes of parts of at most `size` that add up to `count`."""
    yield from (min(size, count - start) for start in range(0, count, size))
