"""What identifies a public value: a digest, the same in every process, also of functions."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import os
import re
import sys
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from functools import cache
from types import BuiltinFunctionType, CodeType, FunctionType, MemberDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

SHELVES = ("site-packages", "dist-packages", "lib-dynload")
OWN = __name__.partition(".")[0]
LOOSE = {"eval", "exec", "globals", "__import__"}
SUBROOM = re.compile(rf"{OWN}\.learners\.\w+\.")  # learners lay in one folder when names were those of files
FILES = {  # of learners that had one each at that time, and share one now
    "FunctionalLinearRegression": "functional_linear_regression",
    "FunctionalLogisticRegression": "functional_logistic_regression",
    "LinearSVC": "linear_svc",
    "MinMaxScaler": "min_max_scaler",
    "OneHotEncoder": "one_hot_encoder",
    "OrdinalEncoder": "ordinal_encoder",
    "RandomDecisionTrees": "random_decision_trees",
    "Ridge": "ridge",
    "StandardScaler": "standard_scaler",
}
SIMPLE = (type(None), bool, int, float, complex, str, bytes)


@cache
def libraries() -> tuple[str, ...]:
    """Where installed modules lie: the standard library, and wherever else packages are put."""
    standard = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    shelves = [path for path in sys.path if os.path.basename(path) in SHELVES]
    return tuple(dict.fromkeys(map(os.path.realpath, [*standard, *shelves, _above(np)])))


def home() -> str:
    """The directory that this package lies in."""
    return _above(sys.modules[OWN])


def _above(package: ModuleType) -> str:
    return os.path.dirname(os.path.dirname(os.path.realpath(package.__file__ or "")))


def installed(module: object) -> bool:
    """Whether a module is of an installed library, or of this one; else it is the user's own.

    Examples
    --------
    >>> installed(np), installed(os), installed(sys), installed(ModuleType("mine"))
    (True, True, True, False)
    """
    if not isinstance(module, ModuleType) or (top := module.__name__.partition(".")[0]) == "__main__":
        return False
    known = vars(module)
    places = [known["__file__"]] if known.get("__file__") else list(known.get("__path__", ()))
    if not places:
        return top in sys.stdlib_module_names
    return top == OWN or any(map(_on_a_shelf, places))


@cache
def _on_a_shelf(place: str) -> bool:
    """Whether a file lies in a library; looked up once, since thousands of modules are asked about again and again."""
    return os.path.realpath(place).startswith(tuple(path + os.sep for path in libraries()))


class Unidentified(TypeError):
    """A value that cannot be identified: it holds something that has neither a name nor fields."""


def identity(value: Any) -> str:
    """A digest that equal values share, and no two different ones.

    A dataclass is its name and its fields, unless it says by `identified_by` what matters. A function is its code,
    its defaults, the values that it closes over and, unless it belongs to an installed library, the globals and the
    modules that it names; so for a class or module of one's own. A library's function is its name. An edited function,
    or the same one around another value, is another. Ledgers keep these digests: names of this library do not say in
    which folder a file lies, so that files may move.

    Parameters
    ----------
    value : object
        Public. Numbers, texts, arrays, collections, dataclasses, functions, and objects that can be pickled.

    Raises
    ------
    Unidentified
        The value holds something else.

    Examples
    --------
    >>> def above(level):
    ...     return lambda rows: rows > level
    >>> identity(above(1.0)) == identity(above(1.0)), identity(above(1.0)) == identity(above(2.0))
    (True, False)
    """
    return _Walk(lasting_name).digest(value).hex()


def former_identity(value: Any) -> str:
    """The digest as it was when classes and functions of this library were named after their files.

    Ledgers hold it for pipelines and searches of that time, and for whatever else had a class or an enum among its
    parameters.

    Examples
    --------
    >>> former_identity(1.0) == identity(1.0), former_identity(dict) == identity(dict)
    (True, True)
    """
    return _Walk(former_name).digest(value).hex()


def lasting_name(value: Any) -> str:
    """What a class or function of a library is called, for ever.

    No two classes of this library share a name. Functions do: the name of the file and the parameters belong to theirs.

    Examples
    --------
    >>> lasting_name(Unidentified), lasting_name(lasting_name), lasting_name(dict)
    ('discreet:Unidentified', 'discreet:identity.lasting_name(value)', 'builtins:dict')
    """
    top, file = value.__module__.partition(".")[0], value.__module__.rpartition(".")[2]
    if top != OWN:
        return f"{value.__module__}:{value.__qualname__}"
    if isinstance(value, FunctionType):
        return f"{OWN}:{file}.{value.__qualname__}({', '.join(_parameters(value.__code__))})"
    return f"{OWN}:{value.__qualname__}"


def former_name(value: Any) -> str:
    """The file that a class or function lay in, and its name there.

    Examples
    --------
    >>> former_name(Unidentified)
    'discreet.core.identity:Unidentified'
    """
    module, name = SUBROOM.sub(f"{OWN}.learners.", value.__module__), value.__qualname__
    file = FILES.get(name.partition(".")[0]) if module.startswith(f"{OWN}.learners.") else None
    return f"{OWN}.learners.{file}:{name}" if file else f"{module}:{name}"


class _Walk:
    """One walk over a value. What contains itself is named, inside, by how far up it was met, so that cycles end."""

    def __init__(self, named: Callable[[Any], str]) -> None:
        self._named = named
        self._above: list[int] = []
        self._done: dict[int, tuple[Any, bytes]] = {}

    def digest(self, value: Any) -> bytes:
        if isinstance(value, np.generic):
            value = value.item()
        if isinstance(value, SIMPLE):
            return _hashed(type(value).__name__, repr(value).encode(errors="surrogatepass"))
        if id(value) in self._above:
            return _hashed("above", str(self._above[::-1].index(id(value))).encode())
        if id(value) not in self._done:
            self._above.append(id(value))
            self._done[id(value)] = value, self._structured(value)
            self._above.pop()
        return self._done[id(value)][1]

    def _structured(self, value: Any) -> bytes:
        match value:
            case np.ndarray() if not value.dtype.hasobject:
                return _hashed("array", value.dtype.str.encode(), str(value.shape).encode(), value.tobytes())
            case list() | tuple():
                return self._all("list" if isinstance(value, list) else "tuple", *value)
            case set() | frozenset():
                return _hashed("set", *sorted(_Walk(self._named).digest(one) for one in value))
            case Mapping():
                pairs = sorted((_Walk(self._named).digest(key), self.digest(part)) for key, part in value.items())
                return _hashed("mapping", *(part for pair in pairs for part in pair))
            case Enum():
                return _hashed("enum", self._name(type(value)), value.name.encode())
            case ModuleType():
                own = None if installed(value) else _said(value)
                return self._all("module", value.__name__, own)
            case property():
                return self._all("property", value.fget, value.fset)
            case staticmethod() | classmethod():
                return self._all(type(value).__name__, value.__func__)
            case MemberDescriptorType():
                return self._all("slot", value.__name__)
            case functools.partial():
                return self._all("partial", value.func, value.args, value.keywords)
            case MethodType():
                return self._all("method", value.__func__, value.__self__)
            case functools._lru_cache_wrapper():
                return self._all("cached", value.__wrapped__)
            case FunctionType():
                return self._function(value)
            case CodeType():
                return self._code(value)
            case BuiltinFunctionType() | np.ufunc():
                return self._all("built in", value.__name__, getattr(value, "__module__", None), _owner(value))
            case type():
                return self._type(value)
            case _ if dataclasses.is_dataclass(value):
                return self._dataclass(value)
        return self._pickled(value)

    def _dataclass(self, value: Any) -> bytes:
        own = getattr(value, "identified_by", None)
        parts = own if own is not None else {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return self._all("dataclass", type(value).__qualname__, parts)

    def _function(self, function: FunctionType) -> bytes:
        if _named(function) and _installed(function):
            return _hashed("function", self._name(function))
        cells = [_content(cell) for cell in function.__closure__ or ()]
        used = {} if _installed(function) else dict(_globals(function.__code__, function.__globals__))
        return self._all("code", function.__code__, function.__defaults__, function.__kwdefaults__, cells, used)

    def _code(self, code: CodeType) -> bytes:
        counts = (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags)
        names = (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars)
        return self._all("bytecode", code.co_code, code.co_exceptiontable, code.co_consts, counts, names)

    def _type(self, kind: type) -> bytes:
        if _installed(kind):
            return _hashed("type", self._name(kind))
        return self._all("own type", kind.__qualname__, kind.__bases__, _said(kind))

    def _pickled(self, value: Any) -> bytes:
        """Of any other object, what a pickle of it would hold."""
        try:
            parts = value.__reduce_ex__(4)
        except Exception as why:
            raise Unidentified(f"a {type(value).__name__} cannot be identified") from why
        if isinstance(parts, str):
            return _hashed("name", self._name(type(value)), parts.encode())
        make, arguments, *rest = parts
        listed = [list(part) if isinstance(part, Iterator) else part for part in rest]
        return self._all("object", make, arguments, listed)

    def _name(self, value: Any) -> bytes:
        return self._named(value).encode()

    def _all(self, kind: str, *parts: Any) -> bytes:
        return _hashed(kind, *map(self.digest, parts))


def _hashed(kind: str, *parts: bytes) -> bytes:
    digest = hashlib.sha256(f"{kind} {[len(part) for part in parts]}".encode())
    for part in parts:
        digest.update(part)
    return digest.digest()


def _parameters(code: CodeType) -> tuple[str, ...]:
    return code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


def _named(function: Callable[..., Any]) -> bool:
    """Whether a function is what its name stands for."""
    found: Any = sys.modules.get(function.__module__)
    for part in function.__qualname__.split("."):
        found = getattr(found, part, None)
    return found is function


def _installed(value: Any) -> bool:
    """Whether a function or class belongs to a library, which does not change between two calls."""
    module = sys.modules.get(getattr(value, "__module__", None) or "builtins")
    made_there = not isinstance(value, FunctionType) or value.__globals__ is getattr(module, "__dict__", None)
    return made_there and installed(module)


def _said(owner: ModuleType | type) -> dict[str, Any]:
    """What a module or class of one's own defines: everything except what Python itself adds."""
    return {
        name: part
        for name, part in vars(owner).items()
        if isinstance(part, FunctionType) or not name.startswith(("__", "_abc_"))
    }


def _content(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:
        return "empty cell"


def _owner(value: Any) -> Any:
    """What a method of a built-in type is bound to."""
    owner = getattr(value, "__self__", None)
    return None if isinstance(owner, ModuleType) else owner


def _globals(code: CodeType, values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The globals that a code object and those inside it name, and the modules of one's own that they import."""
    for name in code.co_names:
        if name in values:
            yield name, values[name]
        elif name in LOOSE:
            raise Unidentified(f"what a function reaches by {name} is not known before it runs")
        elif name in sys.modules and not installed(sys.modules[name]):
            yield name, sys.modules[name]
    for part in code.co_consts:
        if isinstance(part, CodeType):
            yield from _globals(part, values)
