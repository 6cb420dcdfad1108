"""Docstrings that are inherited: which entries, in which order, and what a class says itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.inherited_docs import inherit_docs


class Learner:
    """A learner.

    Parameters
    ----------
    bounds : (lower, upper)
        Public. Of the features,
        one by one.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    event_ : Event
        What the fit cost.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, Learner)


class Line(Learner):
    """A straight line.

    Attributes
    ----------
    slope_ : float
        Released. How steep it is.

    Guarantee
    ---------
    `event_`.
    """


class Steep(Line):
    """A steep line.

    Parameters
    ----------
    steps : int
        Public. How many.

    Attributes
    ----------
    event_ : Event
        Nothing.
    """

    def __init__(self, epsilon: float = 1.0, delta: float = 0.0, steps: int = 3) -> None:
        self.steps = steps


class Timed(Learner):
    """A learner of time.

    Attributes
    ----------
    event_ : Event
        What all steps cost.
    """


class TimedLine(Line, Timed):
    """A line over time."""


@dataclass
class Report:
    """A report.

    Parameters
    ----------
    epsilon : float
        Public. What it costs.
    """

    epsilon: float = 1.0

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, Report)


@dataclass
class Pair(Report):
    """A pair.

    Parameters
    ----------
    size : int
        Public. Of both.
    """

    size: int = 2


class Stream:
    """What is described by fields, in dataclasses that derive from it.

    Parameters
    ----------
    size : int
        Public. Of all.
    noise : float
        Public. How much.
    """

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        inherit_docs(cls, Stream)


@dataclass
class Counter(Stream):
    """A counter.

    Parameters
    ----------
    horizon : int
        Public. How long.
    """

    kind: ClassVar[str] = "counter"
    size: ClassVar[int] = 1

    noise: float
    horizon: int


@dataclass
class LongCounter(Counter):
    """A long counter."""

    fixed: bool = True


def test_attributes_are_inherited_and_other_sections_are_kept() -> None:
    assert (
        Line.__doc__
        == """A straight line.

    Attributes
    ----------
    slope_ : float
        Released. How steep it is.
    event_ : Event
        What the fit cost.

    Guarantee
    ---------
    `event_`.
    """
    )


def test_of_two_bases_the_one_that_says_it_itself_is_heard() -> None:
    assert "What all steps cost." in (TimedLine.__doc__ or "")
    assert "What the fit cost." not in (TimedLine.__doc__ or "")


def test_parameters_come_in_the_order_of_the_signature_and_no_others_do() -> None:
    assert (
        Steep.__doc__
        == """A steep line.

    Parameters
    ----------
    epsilon, delta : float
        Public. What one fit costs.
    steps : int
        Public. How many.

    Attributes
    ----------
    slope_ : float
        Released. How steep it is.
    event_ : Event
        Nothing.
    """
    )


def test_fields_of_a_dataclass_are_inherited_with_what_is_said_of_them() -> None:
    said = Pair.__doc__ or ""
    assert said.index("Public. What it costs.") < said.index("Public. Of both.")


def test_what_becomes_a_dataclass_says_of_its_own_fields_what_its_bases_say_and_nothing_of_what_is_no_field() -> None:
    for kind in (Counter, LongCounter):
        said = kind.__doc__ or ""
        assert said.index("Public. How much.") < said.index("Public. How long.")
        assert "Public. Of all." not in said


def test_a_class_without_a_docstring_gets_none() -> None:
    class Silent(Learner):
        pass

    class Loud(Silent):
        """Loud."""

    assert Silent.__doc__ is None
    assert "What the fit cost." in (Loud.__doc__ or "")


@dataclass
class Fixed(Report):
    """A report at a price that follows from others.

    Attributes
    ----------
    epsilon : float
        Public. What it costs.
    """


def test_what_a_class_calls_an_attribute_is_none_of_its_parameters() -> None:
    assert "Parameters" not in (Fixed.__doc__ or "")
    assert (Fixed.__doc__ or "").count("epsilon") == 1
