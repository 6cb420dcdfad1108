"""The language of expressions: a text in, a number that is computed from each record out, or an error that says where.

stay * 24
(weight / height) / height
case when ward == 'icu' then 2 * stay when age >= 65 then stay else 0 end
coalesce(stay, 0) + abs(age - 50)
"""

from __future__ import annotations

import math

from discreet.core.errors import ParameterError
from discreet.core.held import unheld
from discreet.schema.condition_text import LONGEST, ConditionParser, Name
from discreet.schema.expression import FUNCTIONS, Applied, Arithmetic, Case, ColumnValue, Constant, Expression
from discreet.schema.schema import Boolean, Number, Schema

DEEPEST = 32
MOST_PLACES = 9999  # the place of a column has at most as many digits


def expression_of(text: str, schema: Schema) -> Expression:
    """The number that a text computes from the columns of a schema.

    Parameters
    ----------
    text : str
        Public. At most `LONGEST` letters, with at most `DEEPEST` brackets inside one another. Whoever wrote it may be
        hostile: nothing of it is run.
    schema : Schema
        Public. What the columns are. Numbers, dates (as days or seconds) and truth values can be computed with.

    Raises
    ------
    ParameterError
        The text is no expression, names what the schema does not have, or reads no column.

    Examples
    --------
    >>> schema = Schema({"age": Number(0, 120), "smoker": Boolean()})
    >>> found = expression_of("2 * age - case when smoker then 10 else 0 end", schema)
    >>> print(found, found.span.lower, found.span.upper)
    ((2 * age) - case when smoker == 'true' then 10 else 0 end) -10.0 240.0
    >>> expression_of("age / cigarettes", schema)
    Traceback (most recent call last):
    discreet.core.errors.ParameterError: expression "age / cigarettes": there is no column 'cigarettes'. Nothing was \
released or spent. There are age, smoker.
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ParameterError(ExpressionParser.asked, f"it is no text of up to {LONGEST} letters", 'Write "stay * 24".')
    try:
        found = _written_alike(ExpressionParser(text, schema).number(), schema)
    except RecursionError:
        obstacle, remedy = "too many operations are inside one another", "Compute it in several steps."
        raise ParameterError(ExpressionParser.asked, obstacle, remedy) from None
    if not found.columns:
        raise ParameterError(f'expression "{text[:80]}"', "it reads no column", "Name a column.")
    return found


def _written_alike(found: Expression, schema: Schema) -> Expression:
    """The expression, if it can be written down: as a text that is read as the same, and in SQL."""
    written = str(found)
    if len(written) > LONGEST or ExpressionParser(written, schema).number() != found:
        remedy = f"Use fewer than {LONGEST}."
        raise ParameterError(ExpressionParser.asked, f"written out it has {len(written)} letters", remedy)
    found.sql(dict.fromkeys(found.columns, MOST_PLACES))
    return found


@unheld("one call")
class ExpressionParser(ConditionParser):
    """Recursive descent, one method for each rule of the grammar; conditions are those of `condition_of`."""

    asked, example = "expression", 'Write such as "stay * 24" or "case when age >= 65 then 1 else 0 end".'

    def number(self) -> Expression:
        """All of the text as one number."""
        found = self._sum()
        if self._token.kind != "end":
            raise self._wrong("it goes on where it should end")
        return found

    def _sum(self) -> Expression:
        found = self._product()
        while sign := next((sign for sign in "+-" if self._taken(sign)), None):
            found = self._computed(sign, found, self._product())
        return found

    def _product(self) -> Expression:
        found = self._factor()
        while sign := next((sign for sign in "*/" if self._taken(sign)), None):
            found = self._computed(sign, found, self._factor())
        return found

    def _computed(self, sign: str, left: Expression, right: Expression) -> Expression:
        try:
            return Arithmetic(sign, left, right)
        except ParameterError as why:
            raise self._wrong(why.obstacle, why.remedy) from None

    def _factor(self) -> Expression:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong(f"more than {DEEPEST} brackets are inside one another")
        if self._taken("("):
            found = self._sum()
            self._expect(")")
        elif self._taken("-"):
            own = self._factor()
            found = Constant(-own.value) if isinstance(own, Constant) else self._computed("*", Constant(-1.0), own)
        elif self._ahead(1).text.lower() == "when" and self._taken("case"):
            found = self._case()
        elif self._ahead(1).text == "(" and self._token.kind == "word":
            found = self._applied()
        else:
            found = self._value()
        self._depth -= 1
        return found

    def _applied(self) -> Expression:
        name = self._token.text.lower()
        if name not in FUNCTIONS:
            raise self._wrong(f"there is no function {name!r:.40}", f"There are {', '.join(FUNCTIONS)}.")
        self._next += 2
        of = [self._sum()]
        while self._taken(","):
            of.append(self._sum())
        self._expect(")")
        try:
            return Applied(name, tuple(of))
        except ParameterError as why:
            raise self._wrong(why.obstacle, why.remedy) from None

    def _case(self) -> Expression:
        whens = []
        while self._taken("when"):
            condition = self._condition()
            self._expect("then")
            whens.append((condition, self._sum()))
        otherwise = self._sum() if self._taken("else") else None
        self._expect("end")
        return Case(tuple(whens), otherwise)

    def _value(self) -> Expression:
        found = self._operand()
        if isinstance(found, Name):
            return self._column_value(found.column)
        if isinstance(found, bool | int | float) and math.isfinite(found):
            return Constant(float(found))
        raise self._wrong(f"{found!r:.40} is no number", "Compute with numbers; compare texts behind `when`.")

    def _column_value(self, column: str) -> Expression:
        kind = self._kind(column)
        if not isinstance(kind, Number | Boolean):
            remedy = f"Compare its values: case when {column} == '{kind.values[0]}' then 1 else 0 end."
            raise self._wrong(f"{column} is no number", remedy)
        bounds = self._schema.number(column)
        return ColumnValue(column, float(bounds.lower), float(bounds.upper))
