"""Finds every class that changes itself after it was made, by reading the source; and how it does so."""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import discreet
from discreet.core.held import is_exclusive

ROOT = Path(discreet.__file__).parent
CONSTRUCTORS = {"__init__", "__new__", "__post_init__", "__init_subclass__"}
MUTATORS = {
    *("add", "append", "appendleft", "clear", "discard", "extend", "fill", "insert", "pop", "popitem", "popleft"),
    *("put", "remove", "setdefault", "sort", "subtract", "update"),
}
FILLERS = {
    "heappush",
    "heappop",
    "heapify",
    "heapreplace",
    "heappushpop",
    "shuffle",
    "copyto",
    "putmask",
    "fill_diagonal",
}
"""Functions that change what they are given first."""
UFUNC_AT = (".add.at", ".subtract.at", ".maximum.at", ".minimum.at", ".multiply.at")
Method = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass
class Source:
    """A class as it is written.

    Parameters
    ----------
    file : str
        Inside the package.
    tree : ast.ClassDef
        The class.
    """

    file: str
    tree: ast.ClassDef
    inside: bool
    """Whether it is defined inside a function or another class."""
    methods: dict[str, list[Method]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for part in self.tree.body:
            if isinstance(part, Method):
                self.methods.setdefault(part.name, []).append(part)

    @property
    def name(self) -> str:
        return self.tree.name

    @property
    def private(self) -> bool:
        return self.inside or self.name.startswith("_")

    @functools.cached_property
    def kind(self) -> Any:
        """The class itself."""
        module = self.file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
        return getattr(importlib.import_module(f"discreet.{module}"), self.name)

    @functools.cached_property
    def construction(self) -> set[str]:
        """The methods that are called while an object is made, and by nothing else of it."""
        inside = CONSTRUCTORS & set(self.methods)
        while True:
            others = {name for name in self.methods if name not in inside}
            by_others = {one for name in others for method in self.methods[name] for one in called(method)}
            by_these = {one for name in inside for method in self.methods[name] for one in called(method)}
            more = {name for name in others if name.startswith("_") and name in by_these - by_others}
            if not more:
                return inside | CONSTRUCTORS
            inside |= more

    @functools.cached_property
    def parts(self) -> dict[str, set[str]]:
        """The classes whose objects are put into each attribute, as far as their names show it."""
        found: dict[str, set[str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                values = [node.value] * len(targets)
                if isinstance(targets[0], ast.Tuple) and isinstance(node.value, ast.Tuple):
                    targets, values = targets[0].elts, node.value.elts
                    values = values if len(values) == len(targets) else [node.value] * len(targets)
                for target, value in zip(targets, values, strict=True):
                    if (name := attribute(target)) is not None:
                        found.setdefault(name, set()).update(made(value))
        return found


def attribute(node: ast.AST) -> str | None:
    """The attribute of `self` that this is, or is an element of."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            return node.attr
        node = node.value
    return None


def made(value: ast.expr) -> Iterator[str]:
    """The classes of which an expression makes an object: `Kind(...)` and `Kind.of(...)`."""
    for node in ast.walk(value):
        if isinstance(node, ast.Call):
            function = node.func.value if isinstance(node.func, ast.Attribute) else node.func
            if isinstance(function, ast.Name) and function.id.lstrip("_")[:1].isupper():
                yield function.id


def stored(node: ast.AST) -> Iterator[ast.expr]:
    """Whatever a statement assigns to."""
    match node:
        case ast.Assign(targets) | ast.Delete(targets):
            pending: list[ast.expr] = list(targets)
        case ast.AugAssign(target) | ast.AnnAssign(target) | ast.For(target) | ast.AsyncFor(target):
            pending = [target]
        case ast.withitem(optional_vars=ast.expr() as target):
            pending = [target]
        case ast.Call(func=ast.Attribute(attr="__setattr__"), args=[ast.Name("self"), *_]):
            pending = [ast.Attribute(ast.Name("self"), "by name")]
        case ast.Call(func=ast.Name("setattr" | "delattr"), args=[ast.Name("self"), *_]):
            pending = [ast.Attribute(ast.Name("self"), "by name")]
        case ast.Call(func=ast.Name("next"), args=[first, *_]):
            pending = [first]
        case _:
            return
    while pending:
        one = pending.pop()
        if isinstance(one, ast.Tuple | ast.List):
            pending.extend(one.elts)
        else:
            yield one.value if isinstance(one, ast.Starred) else one


@functools.cache
def directly(method: Method) -> frozenset[str]:
    """The attributes of its object that a method changes by itself, under a shorter name of its own too."""
    names = shorter_names(method)
    found = {attribute(one) or names.get(root(one) or "") for node in ast.walk(method) for one in changed(node, names)}
    return frozenset(name for name in found if name is not None)


def changed(node: ast.AST, names: Mapping[str, str]) -> Iterator[ast.expr]:
    """What a statement or call changes: what it assigns to, what it is a mutator of, and what it is told to fill.

    Giving something else to a shorter name changes nothing; adding to it in place may.
    """
    own = not isinstance(node, ast.AugAssign)
    yield from (one for one in stored(node) if not (own and isinstance(one, ast.Name) and one.id in names))
    if isinstance(node, ast.Call):
        if isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            short = attribute(node.func.value) is None
            if not (short and node.func.attr in ("add", "subtract") and len(node.args) != 1):  # arithmetic
                yield node.func.value
        yield from (one.value for one in node.keywords if one.arg == "out")
        name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
        if name in FILLERS or ast.unparse(node.func).endswith(UFUNC_AT):
            yield from node.args[:1]


def shorter_names(method: Method) -> dict[str, str]:
    """The local names that a method gives to parts of its object, and the attribute of each."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    for node in ast.walk(method):
        if isinstance(node, ast.Assign) and len(node.targets) == 1:
            target, value = node.targets[0], node.value
            several = isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple)
            pairs += zip(target.elts, value.elts, strict=False) if several else [(target, value)]  # type: ignore[attr-defined]
    parts = (ast.Attribute, ast.Subscript)
    named = {one.id: attribute(part) for one, part in pairs if isinstance(one, ast.Name) and isinstance(part, parts)}
    return {name: own for name, own in named.items() if own is not None}


def root(node: ast.AST) -> str | None:
    """The name that an expression begins with."""
    while isinstance(node, ast.Subscript | ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else None


@functools.cache
def calls(method: Method) -> tuple[ast.Attribute, ...]:
    """What a method calls by a name after a dot."""
    functions = (node.func for node in ast.walk(method) if isinstance(node, ast.Call))
    return tuple(one for one in functions if isinstance(one, ast.Attribute))


@functools.cache
def called(method: Method) -> frozenset[str]:
    """The methods of its own object that a method calls."""
    found = set()
    for one in calls(method):
        match one.value:
            case ast.Name("self") | ast.Call(func=ast.Name("super")):
                found.add(one.attr)
    return frozenset(found)


def kept_by_modules() -> Iterator[str]:
    """What a module keeps beside its classes, and functions or methods in it change: the file and the name."""
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {one.id for part in tree.body for one in stored(part) if isinstance(one, ast.Name)}
        for function in (one for one in ast.walk(tree) if isinstance(one, Method)):
            nodes = list(ast.walk(function))
            told = {name for one in nodes if isinstance(one, ast.Global) for name in one.names}
            inside = {one.id for node in nodes for one in stored(node) if isinstance(one, ast.Name)} - told
            inside |= {one.arg for one in nodes if isinstance(one, ast.arg)}
            for one in (one for node in nodes for one in changed(node, {})):
                if (name := root(one)) in own - inside:
                    yield f"{path.relative_to(ROOT).as_posix()} {name}"


def sources() -> tuple[Source, ...]:
    """Every class of the package."""
    return _read()[0]


@functools.cache
def _read() -> tuple[tuple[Source, ...], tuple[Method, ...]]:
    """Every class of the package, and every function that stands in no class."""
    found: list[Source] = []
    functions: list[Method] = []
    for path in sorted(ROOT.rglob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        top, file = {id(part) for part in tree.body}, path.relative_to(ROOT).as_posix()
        kinds = (node for node in ast.walk(tree) if isinstance(node, ast.ClassDef))
        found += [Source(file, node, id(node) not in top) for node in kinds]
        functions += [part for part in tree.body if isinstance(part, Method)]
    return tuple(found), tuple(functions)


@functools.cache
def changing() -> dict[tuple[str, str], dict[str, set[str]]]:
    """By file and name, every class that changes: its methods that do so by themselves, with what they change.

    A method that calls a changing method of what its object holds changes its object too.
    """
    found = {(one.file, one.name): _own_changes(one) for one in sources()}
    while True:
        names: dict[str, set[str]] = {}
        for (_, name), methods in found.items():
            names.setdefault(name, set()).update(methods)
        before = sum(map(len, found.values()))
        for one in sources():
            _add_through_parts(one, found[one.file, one.name], names)
        if sum(map(len, found.values())) == before:
            return {where: methods for where, methods in found.items() if methods}


@functools.cache
def changed_by_others() -> frozenset[str]:
    """The names of the classes whose objects are changed by what they are given to, as far as annotations show it."""
    names = {one.name for one in sources()}
    found: set[str] = set()
    methods = (method for one in sources() for each in one.methods.values() for method in each)
    for function in (*_read()[1], *methods):
        if given := _given_kinds(function, names):
            found |= {given[name] for name in _changed_names(function) if name in given}
    return frozenset(found)


def _given_kinds(function: Method, names: set[str]) -> dict[str, str]:
    """The parameters that are of one class of the package."""
    parts = (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
    words = {one.arg: set(re.findall(r"\w+", ast.unparse(one.annotation))) & names for one in parts if one.annotation}
    return {name: kinds.pop() for name, kinds in words.items() if len(kinds) == 1}


def _changed_names(function: Method) -> Iterator[str]:
    """The names of which a function changes an attribute."""
    for node in ast.walk(function):
        changed = list(stored(node))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in MUTATORS:
            changed.append(node.func.value)
        for one in changed:
            inside = False
            while isinstance(one, ast.Subscript | ast.Attribute):
                inside, one = inside or isinstance(one, ast.Attribute), one.value
            if inside and isinstance(one, ast.Name):
                yield one.id


def _own_changes(source: Source) -> dict[str, set[str]]:
    each = {name: {one for method in methods for one in directly(method)} for name, methods in source.methods.items()}
    return {name: changes for name, changes in each.items() if changes and name not in source.construction}


def _add_through_parts(source: Source, found: dict[str, set[str]], names: dict[str, set[str]]) -> None:
    for name in source.methods.keys() - source.construction:
        for one in (one for method in source.methods[name] for one in calls(method)):
            part = attribute(one.value)
            if any(one.attr in names.get(kind, ()) for kind in source.parts.get(part or "", ())):
                found.setdefault(name, set()).add(f"{part}.{one.attr}")


def function_of(kind: Any, name: str) -> Any:
    """What runs when a method or property of a class is used."""
    found = inspect.getattr_static(kind, name)
    if isinstance(found, property):
        return found.fset or found.fget
    return getattr(found, "__func__", found)


def lets_others_in(kind: Any, method: Method) -> bool:
    """Whether a changing method can be run by two threads at once, or by a fork."""
    paused = isinstance(method, ast.AsyncFunctionDef) or any(isinstance(n, ast.Yield) for n in ast.walk(method))
    if paused:  # no decorator holds it: it takes the lock, and asks for the process, by itself
        text = ast.unparse(method)
        return not ("with self._lock:" in text and "self.check_process()" in text)
    return not is_exclusive(function_of(kind, method.name))


def entrances(source: Source, own: dict[str, set[str]]) -> Iterator[Method]:
    """The methods that users call and that change the object, by themselves or by private ones that are not exclusive.

    Private methods of the classes that it inherits from count as its own.
    """
    by_name = {(one.file, one.name): one for one in sources()}
    bases = [
        by_name[where]
        for kind in source.kind.__mro__
        if (where := (kind.__module__.removeprefix("discreet.").replace(".", "/") + ".py", kind.__name__)) in by_name
    ]
    methods: dict[str, list[Method]] = {}
    changes: set[str] = set(own)
    for base in bases:
        for name, some in base.methods.items():
            methods.setdefault(name, some)
        changes |= set(changing().get((base.file, base.name), ()))
    alone = {name for name in methods if is_exclusive(vars_of(source.kind, name))}
    for name, some in source.methods.items():
        if name in source.construction or (name.startswith("_") and not name.startswith("__")):
            continue
        yield from (one for one in some if name in own or _reaches(one, methods, changes - alone, set(alone)))


def vars_of(kind: Any, name: str) -> Any:
    return function_of(kind, name) if hasattr(kind, name) else None


def _reaches(method: Method, methods: dict[str, list[Method]], changes: set[str], seen: set[str]) -> bool:
    """Whether a method calls a private one that changes the object."""
    for name in called(method):
        if name in seen or not name.startswith("_") or name in CONSTRUCTORS:
            continue
        seen.add(name)
        if name in changes or any(_reaches(one, methods, changes, seen) for one in methods.get(name, ())):
            return True
    return False
