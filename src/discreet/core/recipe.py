"""Questions as data: the name of a recipe and its public parameters, which can be written, sent and read."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError


@dataclass(frozen=True)
class Recipe:
    """What everybody can build the same question from, on a schema that all agree on.

    Parameters
    ----------
    name : str
        Public. Where the recipe is: `package.module:function`.
    parameters : mapping
        Public. Numbers, texts, truth values, None, arrays of numbers, and lists of these.

    Examples
    --------
    >>> recipe = Recipe("discreet.statistics.count:count_of", {"column": "age"})
    >>> recipe.written()
    '{"name":"discreet.statistics.count:count_of","parameters":{"column":"age"}}'
    >>> Recipe.read(recipe.written()) == recipe
    True
    """

    name: str
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def written(self) -> str:
        """The recipe as JSON, in one way only."""
        document = {"name": self.name, "parameters": {key: _plain(value) for key, value in self.parameters.items()}}
        try:
            return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False)
        except (TypeError, ValueError) as why:
            raise ParameterError(f"recipe {self.name}", f"a parameter cannot be written ({why})", FORMS) from why

    @classmethod
    def read(cls, text: str) -> Recipe:
        """The recipe that was written; anything else is refused."""
        try:
            document = json.loads(text, parse_constant=_refused)
            name, parameters = document["name"], document["parameters"]
            if not isinstance(name, str) or not isinstance(parameters, dict) or len(document) != 2:
                raise ValueError("its fields are not a name and parameters")
            return cls(name, {key: _rich(value) for key, value in parameters.items()})
        except (ValueError, TypeError, KeyError, RecursionError) as why:
            raise ParameterError("read a recipe", f"it is not one ({why})", "Send what `written` gives.") from why

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.written() == other.written()

    def __hash__(self) -> int:
        return hash(self.written())

    def __reduce__(self) -> tuple[Any, ...]:
        return Recipe, (self.name, dict(self.parameters))


FORMS = "Give finite numbers, texts, truth values, None, arrays of float64, or lists of these."


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype="<f8")
        return {"shape": list(array.shape), "float64": base64.b64encode(array.tobytes()).decode()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value.item() if isinstance(value, np.generic) else value


def _rich(value: Any) -> Any:
    if isinstance(value, dict):
        numbers = np.frombuffer(base64.b64decode(value["float64"], validate=True), dtype="<f8")
        return numbers.astype(np.float64).reshape(value["shape"])
    return tuple(_rich(one) for one in value) if isinstance(value, list) else value


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not finite")
