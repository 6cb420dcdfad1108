"""A tree by itself: its rules, and what is drawn."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from discreet.learners.trees.grown_tree import GrownTree


def test_leaves_that_agree_are_one() -> None:
    tree = GrownTree(np.array([0, 1, 1]), np.array([1.0, 2.0, 3.0]), np.array(["a", "a", "a", "b"]), ("x", "y"))
    assert str(tree).splitlines() == ["x < 1: a", "x >= 1", "|   y < 3: a", "|   y >= 3: b"]
    axes = tree.plot(Figure().add_subplot())
    assert [text.get_text() for text in axes.texts] == ["a", "a", "b", "y < 3", "x < 1"]
    assert not axes.axison


def test_a_tree_of_one_class_has_no_rules() -> None:
    tree = GrownTree(np.array([0]), np.array([1.0]), np.array(["a", "a"]), ("x",))
    assert str(tree) == "a"
    assert [text.get_text() for text in tree.plot(Figure().add_subplot()).texts] == ["a"]
