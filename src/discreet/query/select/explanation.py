"""What a question does, drawn: from the tables to the release, with the reach of each step and the noise at the end."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.receipt import in_words
from discreet.display.notebook import carded, grid
from discreet.display.plain import plain
from discreet.query.select.selection import Selection
from discreet.releases.spread import spread
from discreet.schema.relation.relation_node import RelationNode


@dataclass(frozen=True)
class Explanation:
    """A drawing of a relation.

    Parameters
    ----------
    steps : tuple of (int, str, str)
        How deep each step lies, what it does, and how many rows one unit moves there.
    releases : tuple of (str, str, str)
        What each sum is for, what it costs, and the standard deviation of the noise on each of its numbers.

    Examples
    --------
    >>> print(Explanation(((0, "release count", "1 row"), (1, "table visits", "1 row")), ()))
    release count    1 row
    └ table visits   1 row
    """

    steps: tuple[tuple[int, str, str], ...]
    releases: tuple[tuple[str, str, str], ...]

    def __str__(self) -> str:
        drawn = [(f"{'  ' * (depth - 1)}└ {words}" if depth else words, reach) for depth, words, reach in self.steps]
        width = max(len(words) for words, _ in drawn) + 3
        lines = [f"{words:<{width}}{reach}" for words, reach in drawn]
        lines += [f"  {what}: {price}, noise {noise}" for what, price, noise in self.releases]
        return "\n".join(map(plain, lines))

    def _repr_html_(self) -> str:
        return self.html()

    def html(self) -> str:
        """The drawing as tables for notebooks."""
        steps = [(f"{'· ' * depth}{words}", reach) for depth, words, reach in self.steps]
        drawn = grid("", ("step", "one unit moves"), steps, kind="words")
        return carded(drawn, grid("", ("released", "price", "noise on each number"), self.releases, kind="words"))


def explained(relation: RelationNode, selection: Selection) -> Explanation:
    """The steps of a relation, the last first, and the noise that a selection adds."""
    return Explanation(tuple(_steps(relation, 0)), tuple(_releases(selection)))


def _steps(node: RelationNode, depth: int) -> list[tuple[int, str, str]]:
    below = [step for one in node.inputs for step in _steps(one, depth + 1)]
    return [(depth, node.words, "nothing" if node.protected is None else str(node.reach)), *below]


def _releases(selection: Selection) -> list[tuple[str, str, str]]:
    mechanisms, found = list(selection.plan.mechanisms), []
    listed = selection
    if selection.unlisted is not None:
        naming = mechanisms.pop(0)
        rows, neighbors = selection.data.unit.rows, selection.data.neighbors
        named = f"{naming.scale(rows, neighbors):.4g}, named from {naming.threshold(rows, neighbors)} rows"
        what = ", ".join([f"names of {selection.unlisted}", *selection.labels_of_names])
        found.append((what, in_words(naming.event), named))
        listed = selection.placeheld
    for stage, labels, noise in zip(listed.stages, listed.labels_of_stages, mechanisms, strict=True):
        deviation = spread(listed.data, stage.question, noise).stddev
        found.append((", ".join(labels), in_words(noise.event), f"{deviation:.4g}"))
    return found
