"""The way of a question: the functions of this library that run from the user's call to the first noise.

    python -m tests.ways [--all] [word of a name ...]

Each way is printed with the frames that lead to its three doors, marked: the permit, which is paid, the question that
is asked of it or the stream that it opens, and the noise. Above them is how many frames lie between the user and the
noise, and how many calls of functions of this library the whole takes. With `--all`, every call before the noise is
printed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

import discreet
from discreet.core.budget import Budget

HOME = str(Path(discreet.__file__).parent)
PAYS = ("permit", "reserve")  # what a function that pays is called
ASKS = ("ask", "open")  # what a permit does for what was paid: answer a question, or open what goes on
NO_NOISE = tuple(f"noise/{name}.py" for name in ("system_bits", "bernoulli", "dealing", "request", "uniform"))
SEED = 1


@dataclass(frozen=True)
class Call:
    """One call of a function of this library: its file and name, and how many such calls it lies in."""

    file: str
    function: str
    depth: int

    @property
    def mark(self) -> str | None:
        """Whether it is one of the doors: the last name of a function says what it does, a room what it holds.

        Bits, coins and shuffles are no noise: public choices and secret samples are drawn with them.
        """
        name = self.function.rpartition(".")[2]
        if self.file.startswith("noise/") and self.file not in NO_NOISE:
            return "noise"
        if name in PAYS and not self.file.startswith("core/"):
            return "permit"
        return name if name in ASKS and self.function.startswith("Permit.") else None

    def __str__(self) -> str:
        return f"{'  ' * self.depth}{self.file}: {self.function}" + (f"  <-- {self.mark}" if self.mark else "")


@dataclass(frozen=True)
class Way:
    """What a question runs through: every call of a function of this library, in order."""

    name: str
    calls: tuple[Call, ...]

    @cached_property
    def doors(self) -> dict[str, int]:
        """Where among the calls each mark is first passed."""
        found: dict[str, int] = {}
        for place, call in enumerate(self.calls):
            if call.mark:
                found.setdefault(call.mark, place)
        return found

    @property
    def order(self) -> tuple[str, ...]:
        """The marks, in the order in which they are first passed."""
        return tuple(sorted(self.doors, key=self.doors.__getitem__))

    @property
    def frames(self) -> int:
        """How many frames lie between the user and the function that draws the noise."""
        return self.calls[self.doors["noise"]].depth

    def above(self, place: int) -> Iterator[int]:
        """The call at a place and those that it lies in."""
        depth = self.calls[place].depth + 1
        for higher in range(place, -1, -1):
            if self.calls[higher].depth < depth:
                depth = self.calls[higher].depth
                yield higher

    def printed(self, whole: bool = False) -> str:
        """The frames that lead to the doors, or every call before the noise, and the counts."""
        last = max(self.doors.values())
        leading = sorted({here for door in self.doors.values() for here in self.above(door)})
        lines = [str(self.calls[place]) for place in (range(last + 1) if whole else leading)]
        counts = f"{' -> '.join(self.order)}; {self.frames} frames to the noise; {len(self.calls)} calls"
        return "\n".join([f"{self.name}: {counts}", *lines])


def way(name: str, asked: Callable[[], Any]) -> Way:
    """The way of what is called, which is called three times before so that everything is loaded and remembered."""
    for _ in range(3):
        asked()
    return Way(name, tuple(traced(asked)))


def traced(asked: Callable[[], Any]) -> list[Call]:
    """All calls of functions of this library in this thread, in order; comprehensions and generators count too."""
    found: list[Call] = []
    depth = 0

    def noted(frame: FrameType, event: str, _: Any) -> None:
        nonlocal depth
        if event in ("call", "return") and frame.f_code.co_filename.startswith(HOME):
            if event == "call":
                found.append(Call(frame.f_code.co_filename[len(HOME) + 1 :], frame.f_code.co_qualname, depth))
            depth += 1 if event == "call" else -1

    before = sys.getprofile()
    sys.setprofile(noted)
    try:
        asked()
    finally:
        sys.setprofile(before)
    return found


def mean() -> Any:
    """The mean of a column."""
    return discreet.mean(np.arange(1000.0) % 100, bounds=(0, 100), epsilon=1.0)


def logistic_regression() -> Any:
    """A fit to 5,000 records of five features."""
    from discreet.learners import LogisticRegression

    records = np.random.default_rng(SEED).uniform(-1.0, 1.0, (5000, 5))
    model = LogisticRegression(bounds=(-1, 1), classes=(0, 1), epsilon=1.0)
    return model.fit(records, (records[:, 0] > 0).astype(int))


def clique() -> Any:
    """A small graph."""
    from discreet.graphs import graph_data

    return graph_data([(i, j) for i in range(30) for j in range(i)], 30, Budget(9.0), unit="edge")


def triangles() -> Any:
    """The triangles of a graph."""
    from discreet.graphs import triangles

    return triangles(clique(), epsilon=9.0)


def graph_release() -> Any:
    """A whole graph that is published."""
    from discreet.graphs import publish_network

    return publish_network(clique(), communities=2, tiers=1, epsilon=8.0, random_state=SEED)


def counter_update() -> Any:
    """One update of a counter that is paid for."""
    from discreet.mechanisms import Laplace
    from discreet.sequential import TreeCounter

    return TreeCounter(100, Laplace(1.0)).open(Budget(1.0), "visits").update(1.0)


def training_step() -> Any:
    """One step of training a network."""
    import torch

    from discreet.deep import PrivateTensors, Trainer, TrainingPlan

    torch.manual_seed(SEED)
    x = torch.randn(400, 2)
    data = PrivateTensors(x, (x[:, 0] > 0).long(), Budget(3.0, 1e-5))
    plan = TrainingPlan.of(Budget(3.0, 1e-5), batch=400, expected_size=400)
    model = torch.nn.Linear(2, 2)
    each = torch.nn.CrossEntropyLoss(reduction="none")
    return Trainer(model, torch.optim.SGD(model.parameters(), lr=1.0), each, data, plan).run()


WAYS = (mean, logistic_regression, triangles, graph_release, counter_update, training_step)


def named(words: list[str]) -> Iterator[Way]:
    """The ways whose name has one of these words; all, if there are none."""
    for asked in WAYS:
        name = asked.__name__.replace("_", " ")
        if not words or any(word in name for word in words):
            yield way(name, asked)


def main() -> None:
    """Print the ways."""
    parser = argparse.ArgumentParser(prog="python -m tests.ways", description=__doc__)
    parser.add_argument("words", nargs="*", help="print the ways whose name has one of these words")
    parser.add_argument("--all", action="store_true", help="print every call before the noise")
    given = parser.parse_args()
    for one in named(given.words):
        print(one.printed(given.all), end="\n\n")


if __name__ == "__main__":
    main()
