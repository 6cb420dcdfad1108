"""A column of numbers that an expression computes from each record by itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.errors import ParameterError, SchemaError
from discreet.core.formula import Formula
from discreet.core.grid import Array
from discreet.display.digits import exact
from discreet.schema.expression import Expression
from discreet.schema.expression_text import expression_of
from discreet.schema.schema import Column, Number, Schema


@dataclass(frozen=True)
class Expressed:
    """A number that an expression computes, moved inside bounds.

    Parameters
    ----------
    name : str
        Public. Of the new column.
    expression : Expression
        Public. Of each record by itself.
    number : Number
        Public. Its bounds.
    """

    name: str
    expression: Expression
    number: Number

    @classmethod
    def read(cls, schema: Schema, name: str, text: str, bounds: tuple[float, float] | None = None) -> Expressed:
        """The number that a text computes from the columns of a schema, inside stated bounds or those that follow."""
        expression = expression_of(text, schema)
        span = expression.span
        number = Number(*bounds) if bounds is not None else _number(name, span.lower, span.upper)
        try:
            number.check_scale(name)
        except SchemaError as why:
            remedy = f'Give bounds={{"{name}": (lower, upper)}}: numbers outside are moved inside them.'
            raise ParameterError(f"derive {name}", why.obstacle, remedy) from why
        return cls(name, expression, number)

    @classmethod
    def every(
        cls, schema: Schema, texts: Mapping[str, str], bounds: Mapping[str, tuple[float, float]]
    ) -> tuple[Expressed, ...]:
        """Several, with bounds of those for which what follows from the schema is too wide."""
        for name in bounds:
            if name not in texts:
                obstacle = f"there are bounds for {name!r:.60}, which is not computed"
                raise ParameterError("derive", obstacle, "Leave them out.")
        for name in texts:
            if name in schema.columns:
                raise ParameterError("derive", f"there is a column {name!r} already", "Give the new one another name.")
        return tuple(cls.read(schema, name, texts[name], bounds.get(name)) for name in texts)

    @property
    def shown(self) -> str:
        """What is computed, with the bounds where they do not follow from the schema."""
        span, number = self.expression.span, self.number
        own = f" in {exact(number.lower)} to {exact(number.upper)}"
        return f"{self.expression}{'' if (span.lower, span.upper) == (number.lower, number.upper) else own}"

    def column(self, before: Schema) -> Column:
        return self.number

    @property
    def reads(self) -> tuple[str, ...]:
        return self.expression.columns

    def of(self, values: Mapping[str, Array]) -> Array:
        """The column. A negative zero becomes a plain one, as SQL engines show them alike."""
        return np.clip(self.expression.values(values), self.number.lower, self.number.upper) + 0.0

    def formula(self, places: Mapping[str, int]) -> Formula:
        """The number for engines, by the places of the columns that it reads, before it is moved inside the bounds."""
        return Formula(self.expression.sql(places))

    def moved(self, place: int) -> Formula:
        """The number that was computed in this column, inside the bounds."""
        return Formula.column(place).moved(self.number.lower, self.number.upper)


def _number(name: str, lower: float, upper: float) -> Number:
    if lower == upper:
        raise ParameterError(f"derive {name}", f"it is {lower:g} for every record", "Compute something that varies.")
    return Number(lower, upper)
