"""The language of conditions: a text in, a condition on the columns of a schema out, or an error that says where.

    age >= 18 and sex == 'f'
    18 <= age < 65 or not (ward in ('a', 'b'))
    admitted >= '2020-01-01' and `home town` is not missing

Columns are compared with numbers, with listed values, with dates, or with one another. A comparison with a missing
value is false. Values are compared as questions see them: numbers inside the schema's bounds.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from discreet.core.checks import instead_of, near_name
from discreet.core.condition import SIGNS, WORDS, Compared, ComparedColumns, Condition, Joined, Missing, Not
from discreet.core.errors import ParameterError
from discreet.core.held import unheld
from discreet.schema.dates import Temporal, seconds_of
from discreet.schema.schema import Boolean, Category, Number, Schema, Text
from discreet.schema.value import form_of, text_of

LONGEST = 2**12  # letters of a condition
DEEPEST = 32  # brackets and negations inside one another
ASKED = "where"
TOKEN = re.compile(
    r"\s*(?:(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+(?:[eE][+-]?[0-9]+)?)(?!\w)"
    r"|(?P<text>'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\")|`(?P<quoted>(?:[^`]|``)+)`|(?P<word>[^\W\d]\w*)"
    r"|(?P<sign><=|>=|==|!=|<>|<|>|=|\(|\)|,|-|\+|\*|/))"
)
SAME = {"=": "==", "<>": "!="}
FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


@dataclass(frozen=True)
class Token:
    """A word of the language.

    Parameters
    ----------
    kind : {"number", "text", "quoted", "word", "sign", "end"}
        What it is.
    text : str
        What stands there, without quotes.
    at : int
        Where it begins.
    """

    kind: str
    text: str
    at: int


@dataclass(frozen=True)
class Name:
    """A column that is named."""

    column: str


Operand = Name | float | str | bool


def condition_of(text: str, schema: Schema) -> Condition:
    """The condition that a text states about the columns of a schema.

    Parameters
    ----------
    text : str
        Public. At most `LONGEST` letters, with at most `DEEPEST` brackets inside one another. Whoever wrote it may be
        hostile: nothing of it is run.
    schema : Schema
        Public. What the columns are.

    Raises
    ------
    ParameterError
        The text is no condition, or names what the schema does not have.

    Examples
    --------
    >>> schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m"))})
    >>> print(condition_of("18 <= age < 65 AND sex = 'f'", schema))
    age >= 18 and age < 65 and sex == 'f'
    >>> condition_of("sex == 'x'", schema)
    Traceback (most recent call last):
    discreet.core.errors.ParameterError: where "sex == 'x'": sex cannot be 'x'. Nothing was released or spent. \
It is one of f, m.
    """
    if not isinstance(text, str) or len(text) > LONGEST:
        raise ParameterError(ASKED, f"it is no text of up to {LONGEST} letters", 'Write such as "age >= 18".')
    found = ConditionParser(text, schema).whole()
    written = str(found)
    if len(written) > LONGEST or ConditionParser(written, schema).whole() != found:
        raise ParameterError(ASKED, f"written out it has {len(written)} letters", f"Use fewer than {LONGEST}.")
    return found


@unheld("one call")
class ConditionParser:
    """Recursive descent, one method for each rule of the grammar.

    Parameters
    ----------
    text : str
        What is read.
    schema : Schema
        Public. What the columns are.
    """

    asked, example = ASKED, "Write such as \"age >= 18 and sex in ('f', 'm')\"."

    def __init__(self, text: str, schema: Schema) -> None:
        self._text, self._schema = text, schema
        self._tokens, self._next, self._depth = self._cut(), 0, 0

    def whole(self) -> Condition:
        found = self._condition()
        if self._token.kind != "end":
            raise self._wrong("it goes on where it should end")
        return found

    def _condition(self) -> Condition:
        return self._joined("or", lambda: self._joined("and", self._single))

    def _joined(self, word: str, part: Callable[[], Condition]) -> Condition:
        parts = [part()]
        while self._taken(word):
            parts.append(part())
        flat: list[Condition] = []
        for one in parts:
            flat.extend(one.parts if isinstance(one, Joined) and one.word == word else [one])
        return flat[0] if len(flat) == 1 else Joined(word, tuple(flat))

    def _single(self) -> Condition:
        self._depth += 1
        if self._depth > DEEPEST:
            raise self._wrong(f"more than {DEEPEST} brackets or negations are inside one another")
        if self._taken("not"):
            found: Condition = Not(self._single())
        elif self._taken("("):
            found = self._condition()
            self._expect(")")
        else:
            found = self._predicate()
        self._depth -= 1
        return found

    def _predicate(self) -> Condition:
        first = self._operand()
        if isinstance(first, Name):
            if self._taken("is"):
                return self._missing(first.column)
            negated = self._ahead(1).text.lower() == "in" and self._taken("not")
            if self._taken("in"):
                return self._among(first.column, negated)
        parts, left = [], first
        while self._token.kind == "sign" and SAME.get(self._token.text, self._token.text) in SIGNS:
            sign = SAME.get(self._token.text, self._token.text)
            self._next += 1
            right = self._operand()
            parts.append(self._compared(left, sign, right))
            left = right
        if parts:
            return parts[0] if len(parts) == 1 else Joined("and", tuple(parts))
        if isinstance(first, Name) and isinstance(self._kind(first.column), Boolean):
            return self._compared(first, "==", True)
        raise self._wrong("a comparison is missing")

    def _missing(self, column: str) -> Condition:
        self._kind(column)
        negated = self._taken("not")
        if not (self._taken("missing") or self._taken("null")):
            raise self._wrong("only `missing` can follow `is`")
        return Not(Missing(column)) if negated else Missing(column)

    def _among(self, column: str, negated: bool) -> Condition:
        self._expect("(")
        listed = [self._operand()]
        while self._taken(","):
            listed.append(self._operand())
        self._expect(")")
        sign, word = ("!=", "and") if negated else ("==", "or")
        parts = tuple(self._compared(Name(column), sign, one) for one in listed)
        return parts[0] if len(parts) == 1 else Joined(word, parts)

    def _operand(self) -> Operand:
        token, negative = self._token, self._taken("-")
        token = self._token
        self._next += 1
        match token.kind, token.text:
            case "number", digits:
                return -float(digits) if negative else float(digits)
            case "text" | "word" | "quoted", _ if negative:
                pass
            case "text", text:
                return text
            case "word", word if word.lower() in ("true", "false"):
                return word.lower() == "true"
            case "quoted", name:
                return Name(name)
            case "word", name if name.lower() not in WORDS:
                return Name(name)
        self._next -= 1
        raise self._wrong("a column or a value is missing")

    def _compared(self, left: Operand, sign: str, right: Operand) -> Condition:
        if not isinstance(left, Name):
            left, sign, right = right, FLIPPED[sign], left
        if not isinstance(left, Name):
            raise self._wrong("two values are compared, and no column")
        kind = self._kind(left.column)
        if isinstance(right, Name):
            if not isinstance(kind, Number) or type(self._kind(right.column)) is not type(kind):
                raise self._wrong(f"{left.column} and {right.column} are not numbers of one kind", "Compare numbers.")
            return ComparedColumns(left.column, sign, right.column)
        if isinstance(kind, Category):
            return self._listed(left.column, kind, sign, right)
        value, shown = self._number(left.column, kind, right)
        return Compared(left.column, sign, value, shown)

    def _listed(self, column: str, kind: Category, sign: str, value: float | str | bool) -> Condition:
        if sign not in ("==", "!="):
            raise self._wrong(f"the values of {column} have no order", "Use ==, != or in.")
        text = text_of(value) or ""
        place = kind.places.get(text, kind.places.get(form_of(text)))
        if place is None:
            near = near_name(text[:80], kind.values)
            remedy = f"It is one of {', '.join(kind.values)}." if near is None else f"Did you mean {near!r}?"
            raise self._wrong(f"{column} cannot be {value!r:.40}", remedy)
        return Compared(column, sign, float(place), _quoted(kind.values[place]))

    def _number(self, column: str, kind: Number, value: float | str | bool) -> tuple[float, str]:
        if isinstance(kind, Temporal):
            number = kind.count(seconds_of(value)) if isinstance(value, str) else math.nan
            if math.isnan(number):
                raise self._wrong(f"{column} holds dates, and {value!r:.40} is none", "Write one as '2020-12-31'.")
            return number, _quoted(kind.shown(number))
        if not isinstance(value, float) or not math.isfinite(value):
            raise self._wrong(f"{column} is a number, and {value!r:.40} is none", "Compare it with a finite number.")
        return value, f"{value:.0f}" if value == round(value) and abs(value) < 1e15 else repr(value)

    def _kind(self, column: str) -> Number | Category:
        if column not in self._schema.columns:
            raise self._wrong(f"there is no column {column!r:.60}", instead_of(column, self._schema.columns))
        kind = self._schema.columns[column]
        if isinstance(kind, Text):
            raise self._wrong(f"the values of {column} are not public", "List them in the schema as a category.")
        return kind

    def _cut(self) -> list[Token]:
        tokens, at, end = [], 0, len(self._text.rstrip())
        while at < end:
            found = TOKEN.match(self._text, at)
            if found is None:
                raise self._wrong(f"{self._text[at:].strip()[:20]!r} cannot be read")
            kind = str(found.lastgroup)
            text = found[kind]
            if kind in ("text", "quoted"):
                mark = text[0] if kind == "text" else "`"
                text = (text[1:-1] if kind == "text" else text).replace(2 * mark, mark)
            tokens.append(Token(kind, text, found.start(kind)))
            at = found.end()
        return [*tokens, Token("end", "", end)]

    @property
    def _token(self) -> Token:
        return self._ahead(0)

    def _ahead(self, by: int) -> Token:
        return self._tokens[min(self._next + by, len(self._tokens) - 1)]

    def _taken(self, text: str) -> bool:
        """Whether this word or sign comes next, which is then passed."""
        found = self._token.kind in ("word", "sign") and self._token.text.lower() == text
        self._next += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._taken(sign):
            raise self._wrong(f"{sign!r} is missing")

    def _wrong(self, obstacle: str, remedy: str = "") -> ParameterError:
        at = self._token.at if hasattr(self, "_tokens") and not remedy else None
        place = "" if at is None else f", before {self._text[at:][:20]!r}" if at < len(self._text) else ", at its end"
        return ParameterError(
            f'{self.asked} "{self._text[:80]}"',
            f"{obstacle}{place}",
            remedy or self.example,
        )


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"
