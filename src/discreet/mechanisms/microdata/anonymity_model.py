"""What a class of records that look alike must fulfil: k-anonymity, l-diversity, t-closeness."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.mechanisms.microdata.equivalence_classes import ClassCounts

Diversity = Literal["distinct", "entropy", "recursive"]
DIVERSITIES: tuple[Diversity, ...] = ("distinct", "entropy", "recursive")
MOST = 2**40
CLOSE = 1e-9  # rounding in entropies and distances that is not held against a class


@dataclass(frozen=True)
class AnonymityModel:
    """What is asked of every class of records that are alike in the quasi-identifiers.

    k-anonymity (Samarati and Sweeney 1998): a class has at least k people. It is broken by *homogeneity* (all of a
    class have one sensitive value) and by *background knowledge* (some values are known not to be theirs).

    l-diversity (Machanavajjhala and others 2006): each sensitive column has at least l different values in a class; or
    the entropy of its values is at least log l; or the most frequent value occurs less than c times as often as the
    l-th most frequent and all rarer ones together. It is broken by *skewness* (a rare illness is half of a class) and
    by *similarity* (l different values that mean the same).

    t-closeness (Li, Li and Venkatasubramanian 2007): the earth mover's distance of each sensitive column in a class
    from that in the whole table is at most t. It is broken by knowledge of *single* records.

    All are broken by *minimality* (a class is as large as it is because a smaller one was not allowed, which tells what
    was in it: Wong and others 2007) and by *composition* (two tables of the same people, each of which is fine: Ganta,
    Kasiviswanathan and Smith 2008). None is a promise.

    Parameters
    ----------
    k : int
        Public. The least number of people in a class.
    l : float, optional
        Public. Of l-diversity; a whole number, unless it is of the entropy.
    diversity : {"distinct", "entropy", "recursive"}
        Public. What l counts.
    c : float, optional
        Public. Of recursive (c, l)-diversity.
    t : float, optional
        Public. The greatest distance, up to 1.

    Examples
    --------
    >>> AnonymityModel(10, l=3, t=0.3).described
    '10-anonymity, distinct 3-diversity, 0.3-closeness'
    """

    k: int = 2
    l: float | None = None  # noqa: E741
    diversity: Diversity = "distinct"
    c: float | None = None
    t: float | None = None

    def __post_init__(self) -> None:
        name = "anonymity"
        check_whole(name, "k", self.k, most=MOST)
        check_one_of(name, "diversity", self.diversity, DIVERSITIES)
        if self.l is not None and self.diversity == "entropy":
            check_positive(name, "l", self.l, least=1.0, most=MOST)
        elif self.l is not None:
            check_whole(name, "l", self.l, most=MOST)
        if self.t is not None:
            check_positive(name, "t", self.t, least=1e-6, most=1.0)
        if (self.c is not None) != (self.diversity == "recursive"):
            obstacle = f"diversity is {self.diversity} and c is {'given' if self.c is not None else 'not given'}"
            raise ParameterError(name, obstacle, 'Give l and c with diversity="recursive", and no c with another.')
        if self.c is not None:
            check_positive(name, "c", self.c, least=1e-6, most=MOST)
        if self.l is None and self.diversity != "distinct":
            raise ParameterError(name, f"diversity is {self.diversity} and l is not given", "Give l.")

    @property
    def described(self) -> str:
        """In words."""
        words = [f"{int(self.k)}-anonymity"]
        if self.c is not None and self.l is not None:
            words.append(f"recursive ({float(self.c):g}, {int(self.l)})-diversity")
        elif self.l is not None:
            words.append(f"{self.diversity} {float(self.l):g}-diversity")
        return ", ".join(words if self.t is None else [*words, f"{float(self.t):g}-closeness"])

    @property
    def looks_at_values(self) -> bool:
        """Whether sensitive values matter, and not only the sizes of classes."""
        return self.l is not None or self.t is not None

    @property
    def grows(self) -> bool:
        """Whether a class that fulfils this still does after any other is added to it.

        So it is with the number of people, and of different values. It is not with entropies, frequencies and
        distances, which a class that does not fulfil them may spoil.
        """
        return self.t is None and (self.l is None or self.diversity == "distinct")

    @property
    def necessary(self) -> AnonymityModel:
        """What follows from this and grows with classes: the same, or k people and l different values.

        An entropy of log l takes l values, and so does a tail behind the l - 1 most frequent.
        """
        return AnonymityModel(self.k, None if self.l is None else math.ceil(self.l - CLOSE))

    def met(self, spread: Sequence[SensitiveValues], own: Steps, sizes: Steps, rows: int = 1) -> NDArray[np.bool_]:
        """Which classes fulfil it.

        Parameters
        ----------
        spread : sequence of SensitiveValues
            The sensitive columns of these records, and of the table that they are compared with.
        own : array of int64
            The class of each record.
        sizes : array of int64
            How many records each class has: at least one.
        rows : int
            How many records a person has at most.
        """
        found = sizes >= self.k * rows
        if self.looks_at_values:
            for column in spread:
                found &= self._met(ClassCounts.of(own, column.codes, len(sizes)), column)
        return found

    def shortfall(self, spread: Sequence[SensitiveValues], records: int, rows: int = 1) -> str:
        """How near all records together come, where they do not fulfil it as one class."""
        people = "" if rows == 1 else f", of at least {-(-records // rows)} people"
        words = [f"all records together are {records}{people}"]
        if self.l is not None and records:
            one = np.zeros(records, np.int64)
            words += [self._nearest(ClassCounts.of(one, column.codes, 1), self.l) for column in spread]
        return "; ".join(words)

    def _nearest(self, counts: ClassCounts, least: float) -> str:
        if self.c is not None:
            tail = int(counts.tail(int(least))[0])
            return f"a sensitive column takes c above {counts.largest[0] / tail:.3g}" if tail else "l is out of reach"
        reached = counts.distinct[0] if self.diversity == "distinct" else math.exp(counts.entropy[0])
        return f"a sensitive column reaches l = {reached:.3g}"

    def _met(self, counts: ClassCounts, column: SensitiveValues) -> NDArray[np.bool_]:
        found = np.ones(len(counts.sizes), np.bool_)
        if self.l is not None:
            found &= self._diverse(counts, self.l)
        if self.t is not None:
            found &= counts.distance(column.whole, column.ordered) <= self.t + CLOSE
        return found

    def _diverse(self, counts: ClassCounts, least: float) -> NDArray[np.bool_]:
        if self.c is not None:
            return counts.largest < self.c * counts.tail(int(least))
        if self.diversity == "entropy":
            return counts.entropy >= math.log(least) - CLOSE
        return counts.distinct >= least


@dataclass(frozen=True)
class SensitiveValues:
    """A sensitive column.

    Parameters
    ----------
    codes : array of int64, shape (n,)
        The values of some records, by their ranks.
    whole : array of int64
        How often each value occurs in the whole table.
    ordered : bool
        Whether the order of values says how near they are.
    """

    codes: Steps
    whole: Steps
    ordered: bool

    @classmethod
    def of(cls, codes: Steps, ordered: bool) -> SensitiveValues:
        """The column of a whole table."""
        return cls(codes, np.bincount(codes, minlength=1), ordered)

    def among(self, rows: Steps | NDArray[np.bool_]) -> SensitiveValues:
        """The values of some rows, still compared with the whole table."""
        return SensitiveValues(self.codes[rows], self.whole, self.ordered)
