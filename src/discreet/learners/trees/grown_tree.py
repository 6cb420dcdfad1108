"""One tree that was learned, as rules and as a drawing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.display.plain import plain
from discreet.releases.drawing import drawn_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True)
class GrownTree:
    """A tree of `depth` levels, with a class for each leaf. Where all leaves below a node agree, the node is a leaf.

    Parameters
    ----------
    features : array of shape (n_nodes,)
        What each node splits, by place; the children of node i are 2 i + 1 and 2 i + 2.
    cuts : array of shape (n_nodes,)
        The least value that goes right.
    labels : array of shape (n_leaves,)
        The class of each leaf.
    names : sequence of str
        The names of the features.

    Examples
    --------
    >>> leaves = np.array(["a", "b", "c", "c"])
    >>> print(GrownTree(np.array([1, 0, 0]), np.array([0.5, 2.0, 3.0]), leaves, ("age", "dose")))
    dose < 0.5
    |   age < 2: a
    |   age >= 2: b
    dose >= 0.5: c
    """

    features: NDArray[Any]
    cuts: Array
    labels: NDArray[Any]
    names: Any

    @classmethod
    def of(cls, model: Any, features: Array, cuts: Array, values: Array) -> GrownTree:
        """One tree of a fitted classifier, where greater values than `cuts` go right."""
        names = getattr(model, "feature_names_in_", [f"x{i}" for i in range(model.n_features_in_)])
        labels = model.classes_[np.argmax(values, axis=1)]
        return cls(features.astype(np.intp), np.nextafter(cuts, np.inf) + 0.0, labels, names)

    def __str__(self) -> str:
        """The rules, one line for each node or leaf."""
        return "\n".join(map(plain, self._lines(0, "")))

    def _lines(self, node: int, indent: str) -> Iterator[str]:
        if self.label(node) is not None:
            yield f"{indent}{self.label(node)}"
            return
        for child, sign in ((2 * node + 1, "<"), (2 * node + 2, ">=")):
            rule, label = f"{indent}{self.rule(node, sign)}", self.label(child)
            yield rule if label is None else f"{rule}: {label}"
            if label is None:
                yield from self._lines(child, f"{indent}|   ")

    def rule(self, node: int, sign: str) -> str:
        return f"{self.names[self.features[node]]} {sign} {self.cuts[node]:.4g}"

    def label(self, node: int) -> Any:
        """The class of all leaves below a node, or None where they differ."""
        first = last = node
        while first < len(self.features):
            first, last = 2 * first + 1, 2 * last + 2
        below = self.labels[first - len(self.features) : last - len(self.features) + 1]
        return below[0] if (below == below[0]).all() else None

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the tree from the root down; to the left is what a rule says.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw.
        """
        axes = drawn_on("a tree", ax)
        self._draw(axes, 0, 0, 0.0)
        axes.set_axis_off()
        return axes

    def _draw(self, axes: Axes, node: int, depth: int, left: float) -> tuple[float, float]:
        """Draw all below a node, beginning at `left`; where the node is, and how many leaves it took."""
        label = self.label(node)
        if label is not None:
            axes.text(left, -depth, str(label), ha="center", va="center", bbox={"boxstyle": "round", "fc": "0.9"})
            return left, 1.0
        place, wide = self._draw(axes, 2 * node + 1, depth + 1, left)
        other, more = self._draw(axes, 2 * node + 2, depth + 1, left + wide)
        middle = (place + other) / 2
        axes.plot([place, middle, other], [-depth - 1, -depth, -depth - 1], color="0.6", zorder=0)
        box = {"boxstyle": "square", "fc": "white", "ec": "0.6"}
        axes.text(middle, -depth, self.rule(node, "<"), ha="center", va="center", bbox=box)
        return middle, wide + more
