"""What a form or an address sends: names and texts of bounded size, from whoever it may be."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from discreet.core.errors import ParameterError

LONGEST = 2**16  # bytes of a form
MOST_FIELDS = 512
ASKED = "the form"


@dataclass(frozen=True)
class SentForm:
    """The fields of a form, each with its texts in order.

    Parameters
    ----------
    fields : mapping of str to tuple of str
        What was sent.

    Examples
    --------
    >>> sent = SentForm.of("column=age&column=sex&n=5000")
    >>> sent.texts("column"), sent.text("n"), sent.number("n"), sent.text("where")
    (('age', 'sex'), '5000', 5000.0, '')
    """

    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    @classmethod
    def of(cls, query: str | bytes) -> SentForm:
        """The fields of a query, or of a body that is written like one."""
        if len(query) > LONGEST:
            raise ParameterError(ASKED, f"it has more than {LONGEST} bytes", "Send less.")
        try:
            text = query if isinstance(query, str) else query.decode("ascii")
            pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=MOST_FIELDS, errors="strict")
        except (ValueError, UnicodeDecodeError):
            raise ParameterError(ASKED, "it cannot be read", "Send it from a page of this console.") from None
        fields: dict[str, tuple[str, ...]] = {}
        for name, value in pairs:
            fields[name] = (*fields.get(name, ()), value)
        return cls(fields)

    def text(self, name: str, default: str = "") -> str:
        """The one text of a field, without blanks around it."""
        return self.fields.get(name, (default,))[-1].strip()

    def texts(self, name: str) -> tuple[str, ...]:
        """All texts of a field that are not empty."""
        return tuple(value for value in self.fields.get(name, ()) if value)

    def number(self, name: str) -> float | None:
        """The number in a field; None where it is empty."""
        text = self.text(name)
        if not text:
            return None
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise ParameterError(ASKED, f"{name} is {text[:40]!r}, which is no number", "Write a number, such as 0.5.")
        return value

    def whole(self, name: str) -> int | None:
        """The whole number in a field; None where it is empty."""
        value = self.number(name)
        if value is not None and value != int(value):
            raise ParameterError(ASKED, f"{name} is {value:g}, which is not whole", "Write a whole number.")
        return None if value is None else int(value)
