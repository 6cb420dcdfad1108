"""What is public about a table: its columns, their bounds and categories. Never read from the data."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

from discreet.core.checks import instead_of
from discreet.core.errors import SchemaError
from discreet.display.digits import exact
from discreet.display.notebook import carded, grid
from discreet.schema.value import form_of, text_of

WIDEST, NARROWEST = 1e50, 1e-50  # bounds whose distance, times much noise, has a fourth power in float64
MOST_STEPS = 2**40  # between the bounds of a number
LISTED = 12  # values of a category that are shown
THINNEST = 2.0**-32  # of the larger bound: a million floats and more from one bound to the other


@dataclass(frozen=True)
class Number:
    """A numeric column.

    Parameters
    ----------
    lower, upper : float
        Public. Values outside are moved to the nearer bound; nan, infinite and unreadable values count as missing.
    step : float, optional
        Public. The distance of the values that the column can have, from `lower` to `upper`: 1 for whole numbers. Cells
        of tables then hold equally many of these values, and quantiles are among them. A value between two of them is
        kept as it is.

    Examples
    --------
    >>> Number(17, 90, step=1)
    Number(lower=17, upper=90, step=1)
    """

    lower: float
    upper: float
    step: float | None = None

    def __post_init__(self) -> None:
        if not (math.isfinite(self.lower) and math.isfinite(self.upper)):
            raise SchemaError("number", f"its bounds are {self.lower} and {self.upper}", "Give two finite bounds.")
        if not self.lower < self.upper or not math.isfinite(self.upper - self.lower):
            obstacle = f"its lower bound {self.lower} is not below its upper bound {self.upper}"
            remedy = "Give the lower bound first; take both from what you know without the data."
            raise SchemaError("number", obstacle, remedy, lower=self.lower, upper=self.upper)
        for name in ("lower", "upper"):  # numpy has no integers so large
            if isinstance(bound := getattr(self, name), int) and abs(bound) > 2**53:
                object.__setattr__(self, name, float(bound))
        if self.step is not None:
            self._check_step(self.step)

    def _check_step(self, step: float) -> None:
        steps = (self.upper - self.lower) / step if math.isfinite(step) and step > 0 else math.nan
        if not 1 <= steps <= MOST_STEPS or abs(steps - round(steps)) > 1e-9 * steps:
            raise SchemaError(
                "number",
                f"its bounds {self.lower} and {self.upper} are not a whole number of steps of {step} apart",
                f"Give a step that divides their distance, at most {MOST_STEPS:,} times.",
                step=step,
            )

    @property
    def described(self) -> str:
        step = "" if self.step is None else f", in steps of {exact(self.step)}"
        return f"{exact(self.lower)} to {exact(self.upper)}{step}"

    def __repr__(self) -> str:
        step = "" if self.step is None else f", step={self.step}"
        return f"Number(lower={self.lower}, upper={self.upper}{step})"

    @cached_property
    def _computable(self) -> bool:
        largest = max(abs(self.lower), abs(self.upper))
        return largest <= WIDEST and self.upper - self.lower >= max(NARROWEST, THINNEST * largest)

    def check_scale(self, name: str) -> None:
        """Refuse to compute with a column of this name whose bounds leave float64 no room."""
        if not self._computable:
            raise SchemaError(
                f"column {name!r}",
                f"its bounds are {self.lower} and {self.upper}, too large or too close to compute with",
                f"Rescale the column: give bounds up to {WIDEST:g}, and {NARROWEST:g} or {THINNEST:.1g} of the larger"
                " one apart; subtract what all values have in common.",
                lower=self.lower,
                upper=self.upper,
            )


@dataclass(frozen=True, init=False)
class Category:
    """A column with a public list of values; any other value counts as missing.

    A value in the list that is read as a number stands for it however it is stored or written, to the precision of a
    float: `1` for 1, 1.0, "1", "01" and "1.0". One that is read as a boolean stands for it in the same way: `f` for
    False, "F", "false" and "no". True and 1, and False and 0, are found for each other unless both are listed.

    Parameters
    ----------
    values : tuple of str, bool, int or float
        Public. All values that are distinguished; kept as text.

    Examples
    --------
    >>> Category((True, False)).values, Category((1, 2.0, "unknown")).values
    (('true', 'false'), ('1', '2', 'unknown'))
    """

    values: tuple[str, ...]

    def __init__(self, values: Iterable[str | bool | float]) -> None:
        if isinstance(values, str):
            obstacle = f"its values are the one text {values!r:.40}, which would be taken apart letter by letter"
            raise SchemaError("category", obstacle, "List the values: Category((...,)).")
        given = tuple(values)
        texts = [text_of(value) for value in given]
        hopeless = [value for value, text in zip(given, texts, strict=True) if text is None]
        if hopeless or not given:
            reason = f"the value {hopeless[0]!r:.40} could never be found" if hopeless else "it has no values"
            raise SchemaError("category", reason, "List texts, numbers or booleans, none of them blank or too long.")
        written = [str(value if isinstance(value, str) else text) for value, text in zip(given, texts, strict=True)]
        object.__setattr__(self, "values", tuple(written))
        if len(set(_forms_of(texts))) != len(given):
            remedy = "List each value once: '1', '01' and '1.0' are one number."
            raise SchemaError("category", "two of its values are the same, up to outer blanks or as numbers", remedy)

    @cached_property
    def places(self) -> Mapping[float | str, int]:
        """Where values are in the list, by what `form_of` makes of them or by their text without outer blanks."""
        places = {form: place for place, form in enumerate(_forms_of([text_of(value) for value in self.values]))}
        listed = {value.strip().lower() for value in self.values}
        for word, number in (("true", 1.0), ("false", 0.0)):
            if number in places:
                places.setdefault(word, places[number])
            elif word in places and word in listed:
                places[number] = places[word]
        return places

    @property
    def described(self) -> str:
        """What is public about it, in words: the first of a long list."""
        more = f" and {len(self.values) - LISTED} more" if len(self.values) > LISTED else ""
        return ", ".join(self.values[:LISTED]) + more


def _forms_of(given: Iterable[str | None]) -> list[float | str]:
    """The form of each text; the words for booleans are texts like others where two of them are the same boolean."""
    texts = [str(text) for text in given]
    forms = [form_of(text) for text in texts]
    if len(set(forms)) == len(forms):
        return forms
    return [text if isinstance(form, str) else form for text, form in zip(texts, forms, strict=True)]


@dataclass(frozen=True, init=False)
class Boolean(Category):
    """A column of truth values; anything else counts as missing.

    As a category it is `false` or `true`; as a number it is 0 or 1, so that its mean is the share of true values.

    Examples
    --------
    >>> Boolean().values, Schema({"smoker": Boolean()}).number("smoker")
    (('false', 'true'), Number(lower=0, upper=1))
    """

    def __init__(self) -> None:
        super().__init__((False, True))

    def __repr__(self) -> str:
        return "Boolean()"


TRUTH = Number(0, 1)


@dataclass(frozen=True)
class Text:
    """A column whose values are not public: they can be named only by private key selection.

    Examples
    --------
    >>> Schema({"town": Text()}).text("town")
    Text()
    """

    described: ClassVar[str] = "nothing"


Column = Number | Category | Text
STRINGS = frozenset({str})


@dataclass(frozen=True)
class Schema:
    """The public description of a table.

    Parameters
    ----------
    columns : mapping of str to Number, Category or Text
        Public. In the order in which learners see the features.

    Examples
    --------
    >>> schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m"))})
    >>> schema.features
    ('age',)
    """

    columns: Mapping[str, Column]

    def __post_init__(self) -> None:
        if not self.columns:
            raise SchemaError("schema", "it has no columns", "Describe at least one.")
        object.__setattr__(self, "columns", MappingProxyType(dict(self.columns)))

    @classmethod
    def numeric(
        cls, lower: float | list[float], upper: float | list[float], n_features: int, names: Sequence[str] = ()
    ) -> Schema:
        """The schema of a plain matrix: columns x0, x1, ... with these bounds, each one number or one per column.

        They have other names where there is one for each.
        """
        lowers = lower if isinstance(lower, list) else [lower] * n_features
        uppers = upper if isinstance(upper, list) else [upper] * n_features
        if not len(lowers) == len(uppers) == n_features:
            obstacle = f"there are {len(lowers)} lower and {len(uppers)} upper bounds for {n_features} features"
            raise SchemaError("bounds", obstacle, "Give one number, or one per feature.")
        called = names or [f"x{i}" for i in range(n_features)]
        return cls({name: Number(a, b) for name, a, b in zip(called, lowers, uppers, strict=True)})

    @property
    def features(self) -> tuple[str, ...]:
        """The numeric columns, in order: what a learner sees."""
        return tuple(name for name, column in self.columns.items() if isinstance(column, Number))

    def number(self, name: str) -> Number:
        """The numeric column of this name."""
        column = self._column(name)
        if isinstance(column, Boolean):
            return TRUTH
        if not isinstance(column, Number):
            raise SchemaError(f"column {name!r}", "it is not numeric", f"Numeric are {', '.join(self.features)}.")
        return column

    def category(self, name: str) -> Category:
        """The column of this name with public values."""
        column = self._column(name)
        if not isinstance(column, Category):
            remedy = "List them in the schema, or buy them with discreet.learners.buy_categories."
            raise SchemaError(f"column {name!r}", "it has no public list of values", remedy)
        return column

    def text(self, name: str) -> Text:
        """The column of this name whose values are not public."""
        column = self._column(name)
        if not isinstance(column, Text):
            raise SchemaError(f"column {name!r}", "its values are already public", "Ask for its histogram.")
        return column

    def values(self, names: Sequence[str]) -> tuple[str, ...]:
        """The columns of these names, each once: those that a question may read as numbers or as places in a list."""
        found = tuple(names)
        if not found or len(set(found)) != len(found):
            raise SchemaError("columns", f"they are {', '.join(map(str, found)) or 'none'}", "Name each column once.")
        if not (STRINGS.issuperset(map(type, found)) and self._readable.issuperset(found)):
            for name in found:
                if isinstance(self._column(name), Text):
                    remedy = "List them in the schema, or buy them with discreet.learners.buy_categories."
                    raise SchemaError(f"column {name!r}", "its values are not public", remedy)
        return found

    def numbers(self, names: Sequence[str]) -> tuple[Number, ...]:
        """The numeric columns of these names, each once."""
        known = self._numbers
        return tuple([known[name] if name in known else self.number(name) for name in self.values(names)])

    @cached_property
    def _readable(self) -> frozenset[str]:
        """The columns that can be read as numbers or as places in a list, and computed with."""
        return frozenset({*self._numbers, *[name for name, kind in self.columns.items() if isinstance(kind, Category)]})

    @cached_property
    def _numbers(self) -> dict[str, Number]:
        """The columns that are plain numbers, and can be computed with."""
        return {name: kind for name, kind in self.columns.items() if isinstance(kind, Number) and kind._computable}

    def listing(self, lists: Mapping[str, Category]) -> Schema:
        """The schema with lists of values in place of columns of text."""
        for name in lists:
            self.text(name)
        return Schema({name: lists.get(name, column) for name, column in self.columns.items()})

    def _column(self, name: str) -> Column:
        if not isinstance(name, str) or name not in self.columns:
            raise SchemaError(f"column {name!r}", "the schema has none", instead_of(str(name), self.columns))
        column = self.columns[name]
        if isinstance(column, Number) and not column._computable:
            column.check_scale(name)
        return column

    def __hash__(self) -> int:
        return hash(frozenset(self.columns.items()))

    def __repr__(self) -> str:
        return f"Schema({dict(self.columns)!r})"

    def _repr_html_(self) -> str:
        return carded(self.html())

    def html(self) -> str:
        """The columns as a table for notebooks."""
        rows = [(name, type(column).__name__, column.described) for name, column in self.columns.items()]
        return grid("", ("column", "kind", "what is public"), rows, kind="words")

    def __reduce__(self) -> tuple[type[Schema], tuple[dict[str, Column]]]:
        return Schema, (dict(self.columns),)
