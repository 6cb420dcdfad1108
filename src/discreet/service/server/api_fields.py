"""What a request may say: fields by name, each of a kind; anything else is refused with the word and the remedy."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from discreet.core.errors import ParameterError

MOST_BODY = 2**16  # bytes of a request
LARGEST = 2**53


@dataclass(frozen=True)
class ApiField:
    """One field of a request.

    Parameters
    ----------
    kind : str
        "text", "number", "numbers", "whole", "truth", "question", "questions" or "object".
    about : str
        What it means.
    required : bool
        Whether it must be there.
    """

    kind: str
    about: str
    required: bool = False

    def taken(self, name: str, value: Any) -> Any:
        """The value, once it is of its kind."""
        if not _IS[self.kind](value):
            raise ParameterError("a request", f"{name} is {_shown(value)}", f"Send {WORDS[self.kind]}.")
        return value

    @property
    def schema(self) -> dict[str, Any]:
        """The same as a JSON schema."""
        return {**_SCHEMAS[self.kind], "description": self.about}


WORDS = {
    "text": "a text",
    "number": "a finite number",
    "numbers": "a finite number, or a list of such",
    "whole": "a whole number",
    "truth": "true or false",
    "question": "a question: words, SQL, or an object with one of words, sql, statistic, learner, groups",
    "questions": "a list of 1 to 8 questions",
    "object": "an object",
}
_QUESTION = {
    "oneOf": [
        {"type": "string", "minLength": 1, "maxLength": 20000},
        {"type": "object", "additionalProperties": True},
    ]
}
_SCHEMAS: dict[str, dict[str, Any]] = {
    "text": {"type": "string", "maxLength": 500},
    "number": {"type": "number"},
    "numbers": {"oneOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "maxItems": 16}]},
    "whole": {"type": "integer"},
    "truth": {"type": "boolean"},
    "question": _QUESTION,
    "questions": {"type": "array", "items": _QUESTION, "minItems": 1, "maxItems": 8},
    "object": {"type": "object"},
}


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= LARGEST


def _is_question(value: Any) -> bool:
    return isinstance(value, str | dict)


def _is_list(value: Any, most: int) -> bool:
    return isinstance(value, list) and 0 < len(value) <= most


_IS: dict[str, Any] = {
    "text": lambda value: isinstance(value, str) and len(value) <= 500,
    "number": _is_number,
    "numbers": lambda value: _is_number(value) or (_is_list(value, 16) and all(map(_is_number, value))),
    "whole": lambda value: isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST,
    "truth": lambda value: isinstance(value, bool),
    "question": _is_question,
    "questions": lambda value: _is_list(value, 8) and all(map(_is_question, value)),
    "object": lambda value: isinstance(value, dict),
}


def taken(body: bytes, fields: Mapping[str, ApiField]) -> dict[str, Any]:
    """What a request says, by name; refused at the first word that is wrong.

    Examples
    --------
    >>> taken(b'{"epsilon": 0.5}', {"epsilon": ApiField("number", "What it may cost.", True)})
    {'epsilon': 0.5}
    """
    try:
        said = json.loads(body or b"{}", parse_constant=_no_number)
    except (ValueError, RecursionError) as why:
        raise ParameterError("a request", f"its body is no JSON ({str(why)[:80]})", "Send an object.") from None
    if not isinstance(said, dict):
        raise ParameterError("a request", "its body is no object", 'Send such as {"epsilon": 0.5}.')
    for name in said:
        if name not in fields:
            known = f"Known here: {', '.join(fields)}." if fields else "Send no field."
            raise ParameterError("a request", f"nothing is called {name!r:.60} here", known)
    for name, one in fields.items():
        if one.required and said.get(name) is None:
            raise ParameterError("a request", f"{name} is missing", f"Send {WORDS[one.kind]} as {name}.")
    return {name: fields[name].taken(name, value) for name, value in said.items() if value is not None}


def _no_number(name: str) -> Any:
    raise ValueError(f"{name} is no number of JSON")


def _shown(value: Any) -> str:
    return f"{value!r:.60}" if isinstance(value, str | int | float | bool) else f"a {type(value).__name__}"
