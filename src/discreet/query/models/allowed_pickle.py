"""Pickles of which every object is one of an explicit list; nothing in them is called but what makes these."""

from __future__ import annotations

import io
import math
import pickle
import zlib
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.held import unheld
from discreet.core.neighbors import Neighbors
from discreet.query.models.allowed_classes import TREES, Forgotten, allowed_class

MOST = 2**31  # bytes of a file, unpacked
REMEDY = (
    "Files of models hold arrays and the estimators that `discreet.query.models.allowed_classes` lists. If you made the"
    " file yourself, or trust who did as you trust a program: --trust-pickle."
)


def read_allowed(path: str | Path) -> Any:
    """The model in a file that joblib wrote, uncompressed or packed by zlib or gzip.

    Raises
    ------
    ParameterError
        It holds anything else, or is damaged.
    """
    asked = f"open {path}"
    try:
        with open(path, "rb") as file:
            packed = file.read(MOST + 1)
        if packed[:1] == b"x" or packed[:2] == b"\x1f\x8b":
            packed = zlib.decompressobj(47).decompress(packed, MOST + 1)
        if len(packed) > MOST:
            raise ParameterError(asked, f"it has more than {MOST} bytes", "Attack a smaller model.")
        return AllowedUnpickler(io.BytesIO(packed), asked).load()
    except ParameterError:
        raise
    except OSError as why:
        raise ParameterError(asked, str(why.strerror or why), "Give the path of a file.") from why
    except (Exception, RecursionError) as why:
        raise ParameterError(asked, f"it cannot be read as a model ({type(why).__name__})", REMEDY) from why


ARRAY = object()  # stands for the class of arrays, which a file names and never calls


class StoredArray:
    """Stands in a file of joblib's where the bytes of an array follow."""


@unheld("one call")
class AllowedUnpickler(pickle._Unpickler):
    """An unpickler that makes listed classes without calling their `__setstate__`, and reads arrays by itself.

    Numpy's own `__setstate__` of a data type believes the file: a crafted one turns bytes into pointers. The reader of
    joblib hands arrays of objects to the plain `pickle`. So both are written anew here.
    """

    stack: list[Any]
    append: Callable[[Any], None]

    dispatch: ClassVar[dict[int, Any]] = dict(pickle._Unpickler.dispatch)

    def __init__(self, file: io.BytesIO, asked: str) -> None:
        super().__init__(file)
        self._file, self._asked = file, asked

    def find_class(self, module: str, name: str) -> Any:
        """A class of the list, or what stands in for a function of numpy's."""
        found = SUBSTITUTES.get((module.replace("numpy.core", "numpy._core"), name)) or allowed_class(module, name)
        if found is None:
            raise self._refused(f"it names {module}.{name}")
        return found

    def persistent_load(self, pid: Any) -> Any:
        """Nothing lies elsewhere."""
        raise self._refused("it names an object elsewhere")

    def _refused(self, obstacle: str) -> ParameterError:
        return ParameterError(self._asked, f"{obstacle}, which is not allowed", REMEDY)

    def load_reduce(self) -> None:
        """Call what makes arrays, numbers, trees and relations; nothing else is called."""
        given = self.stack.pop()
        make = self.stack[-1]
        number = isinstance(make, type) and issubclass(make, np.generic | Forgotten | Neighbors)
        self._check(number or any(make is one for one in CALLED), "it calls something")
        self.stack[-1] = make(*given)

    def load_newobj(self) -> None:
        """Make an object of a listed class, without a word to its constructor."""
        given = self.stack.pop()
        kind = self.stack.pop()
        own = isinstance(kind, type) and (kind in (StoredArray, Forgotten) or self._is_listed(kind))
        self._check(own and given == (), "it makes an object in a way of its own")
        self.append(kind.__new__(kind))

    def load_otherwise(self) -> None:
        """What only old or hostile files hold."""
        raise self._refused("it makes an object in a way of its own")

    @staticmethod
    def _is_listed(kind: type[Any]) -> bool:
        return allowed_class(kind.__module__, kind.__qualname__) is kind and not issubclass(kind, np.generic | Enum)

    def load_build(self) -> None:
        """Give an object its state: by what it is, and never by a method of its own."""
        state, made = self.stack.pop(), self.stack[-1]
        if isinstance(made, StoredArray):
            self.stack[-1] = self._following(state)
        elif isinstance(made, np.dtype):
            self._check(_is_plain(made, state) or _is_record(made, state), "it has a data type of another kind")
        elif isinstance(made, np.ndarray):
            self._check(_fills(made, state), "it has an array whose bytes do not fit")
            made.__setstate__(state)
        elif isinstance(made, StoredTree):
            made.state = state
        elif not isinstance(made, Forgotten):
            self._set(made, state)

    dispatch[pickle.REDUCE[0]] = load_reduce
    dispatch[pickle.NEWOBJ[0]] = load_newobj
    dispatch[pickle.BUILD[0]] = load_build
    for _code in (pickle.NEWOBJ_EX, pickle.INST, pickle.OBJ, pickle.EXT1, pickle.EXT2, pickle.EXT4):
        dispatch[_code[0]] = load_otherwise

    def _set(self, made: Any, state: Any) -> None:
        """Attributes of an estimator: none hides a method, none is a function or a class."""
        kind = type(made)
        self._check(self._is_listed(kind), f"it changes {kind.__name__:.40}")
        self._check(isinstance(state, dict) and all(isinstance(name, str) for name in state), "its state is no mapping")
        for name, value in state.items():
            hidden = name.startswith("__") or callable(getattr(kind, name, None))
            called = isinstance(value, type) and not issubclass(value, np.generic)
            called = called or type(value).__name__ in ("function", "builtin_function_or_method", "method")
            self._check(not hidden and not called, f"{kind.__name__} has a method or a function {name!r:.40}")
            self._check(name not in ("memory", "func") or value is None, f"{kind.__name__} has {name!r}")
        trees = {name: value.made() for name, value in state.items() if isinstance(value, StoredTree)}
        made.__dict__.update({**state, **trees})
        if kind.__name__ in TREES and "tree_" in made.__dict__:
            own, features = made.__dict__["tree_"], made.__dict__.get("n_features_in_")
            self._check(type(features) is int and getattr(own, "n_features", None) == features, "its trees do not fit")

    def _following(self, state: Any) -> Any:
        """The array whose bytes follow in the file."""
        kind, shape, order = state.get("dtype"), state.get("shape"), state.get("order")
        self._check(isinstance(kind, np.dtype) and _is_shape(shape) and order in ("C", "F"), "an array is odd")
        self._check(state.get("subclass") is ARRAY, "an array is of a class of its own")
        if kind.hasobject:
            inner = AllowedUnpickler(self._file, self._asked).load()
            self._check(type(inner) is np.ndarray and inner.dtype.hasobject and inner.shape == shape, "an array is odd")
            return inner
        if state.get("numpy_array_alignment_bytes") is not None:
            self._file.read(self._file.read(1)[0])
        size = math.prod(shape) * kind.itemsize
        self._check(size <= MOST, "an array is larger than the file")
        raw = self._file.read(size)
        self._check(len(raw) == size, "an array is larger than the file")
        return np.frombuffer(raw, kind).reshape(shape, order=order).copy(order=order)

    def _check(self, right: bool, obstacle: str) -> None:
        if not right:
            raise self._refused(obstacle)


class StoredTree:
    """The nodes of a decision tree, checked before scikit-learn's compiled code follows them."""

    def __init__(self, features: int, classes: Any, outputs: int) -> None:
        self.given, self.state = (features, classes, outputs), dict[str, Any]()

    def _part(self, name: str) -> Any:
        return self.state.get(name)

    def made(self) -> Any:
        """The tree as scikit-learn has it: children come after their parents, features and values are there."""
        from sklearn.tree._tree import Tree

        features, classes, outputs = self.given
        nodes, values, count = (self._part(name) for name in ("nodes", "values", "node_count"))
        arrays = all(type(one) is np.ndarray for one in (classes, nodes, values))
        if not (arrays and type(features) is type(outputs) is int and _follows(nodes, features)):
            raise ValueError("no tree")
        shape = (len(nodes), outputs, int(classes.max(initial=0)))
        if not (count == len(nodes) and classes.shape == (outputs,) and classes.min() > 0 and values.shape == shape):
            raise ValueError("no tree")
        tree = Tree(features, classes.astype(np.intp), outputs)
        tree.__setstate__({**self.state, "values": np.ascontiguousarray(values, dtype=np.float64)})
        return tree


def _follows(nodes: Any, features: int) -> bool:
    left, right = nodes["left_child"], nodes["right_child"]
    own, inner = np.arange(len(nodes)), left != -1
    there = [(side[inner] > own[inner]) & (side[inner] < len(nodes)) for side in (left, right)]
    chosen = nodes["feature"][inner]
    return (
        len(nodes) > 0
        and bool((right[~inner] == -1).all())
        and all(side.all() for side in there)
        and bool(((chosen >= 0) & (chosen < features)).all())
    )


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, tuple) and all(type(size) is int and 0 <= size <= MOST for size in shape)


def _is_plain(made: np.dtype[Any], state: Any) -> bool:
    """Whether the state is that which a data type of this name has anyway, so that there is nothing to set."""
    return bool(made.names is None and state == made.__reduce__()[2])


def _is_record(made: np.dtype[Any], state: Any) -> bool:
    """Whether it is that of the nodes of a tree; then its fields are set."""
    from sklearn.tree._tree import NODE_DTYPE

    if made.kind != "V" or state != NODE_DTYPE.__reduce__()[2]:
        return False
    fields: Any = made
    fields.__setstate__(NODE_DTYPE.__reduce__()[2])
    return True


def _fills(made: Any, state: Any) -> bool:
    """Whether an array that has no values yet is given as many as its shape says."""
    if made.size or not (isinstance(state, tuple) and len(state) == 5):
        return False
    _, shape, kind, _, raw = state
    if not (_is_shape(shape) and isinstance(kind, np.dtype)):
        return False
    count = math.prod(shape)
    if kind.hasobject:
        return kind == np.dtype(object) and type(raw) is list and len(raw) == count
    return type(raw) is bytes and len(raw) == count * kind.itemsize


def _empty(kind: Any, shape: Any, code: Any) -> Any:
    if kind is not ARRAY or shape != (0,):
        raise ValueError("no empty array")
    return np.empty(0, np.int8)


def _type(text: Any, *_: Any) -> np.dtype[Any]:
    """A data type by its name: numbers, texts and objects, and blank ones, whose fields are set and checked later."""
    if not (isinstance(text, str) and text[:1] in "biufSUOV" and text[1:].isdigit()):
        raise ValueError("no data type")
    return np.dtype(text, copy=True) if text[0] == "V" else np.dtype(text)


def _scalar(kind: Any, raw: Any) -> Any:
    if not (isinstance(kind, np.dtype) and kind.kind in "biuf" and type(raw) is bytes and len(raw) == kind.itemsize):
        raise ValueError("no number")
    return np.frombuffer(raw, kind)[0]


def _from_bytes(raw: Any, kind: Any, shape: Any, order: Any, *_: Any) -> Any:
    plain = isinstance(raw, bytes | bytearray) and isinstance(kind, np.dtype) and not kind.hasobject
    if not (plain and _is_shape(shape) and order in ("C", "F")):
        raise ValueError("no array")
    return np.frombuffer(raw, kind).reshape(shape, order=order).copy(order=order)


SUBSTITUTES: dict[tuple[str, str], Any] = {
    ("joblib.numpy_pickle", "NumpyArrayWrapper"): StoredArray,
    ("numpy", "ndarray"): ARRAY,
    ("numpy", "dtype"): _type,
    ("numpy._core.multiarray", "_reconstruct"): _empty,
    ("numpy._core.multiarray", "scalar"): _scalar,
    ("numpy._core.numeric", "_frombuffer"): _from_bytes,
    ("sklearn.tree._tree", "Tree"): StoredTree,
    ("builtins", "slice"): slice,
}
CALLED = (_type, _empty, _scalar, _from_bytes, StoredTree, slice)
