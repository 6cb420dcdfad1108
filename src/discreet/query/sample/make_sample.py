"""Make the sample table again: `python -m discreet.query.sample.make_sample`. The same rows every time.

Every value is drawn from a made-up law with a fixed seed; no data were used.
"""

from __future__ import annotations

import math
import random
from itertools import accumulate
from statistics import NormalDist

from discreet.query.sample import TABLE

ROWS = 5000
COLUMNS = ("age", "sex", "weight_kg", "systolic", "department", "town", "stay_days")
DEPARTMENTS = {"surgery": 24, "cardiology": 19, "oncology": 12, "neurology": 9, "maternity": 14, "emergency": 22}
FIRST = ("Alder", "Birch", "Clover", "Dun", "Elm", "Fern", "Gorse", "Hazel", "Iris", "Juniper")
LAST = ("ford", "ham", "stead", "wick", "mouth", "dale", "by", "minster")
TOWNS = {first + last: 1 / (rank + 2) ** 1.25 for rank, (first, last) in enumerate((f, e) for e in LAST for f in FIRST)}
NORMAL = NormalDist()


def drawn(rng: random.Random, weights: dict[str, float] | dict[str, int]) -> str:
    """A name, by its weight."""
    point = rng.random() * sum(weights.values())
    return next(name for name, upto in zip(weights, accumulate(weights.values()), strict=True) if point <= upto)


def normal(rng: random.Random, mean: float, stddev: float) -> float:
    """A draw from a normal law."""
    return mean + stddev * NORMAL.inv_cdf(min(max(rng.random(), 1e-9), 1 - 1e-9))


def row(rng: random.Random) -> str:
    """One made-up patient; about one weight in forty is missing."""
    department = drawn(rng, DEPARTMENTS)
    sex = "f" if department == "maternity" else drawn(rng, {"f": 48, "m": 51, "x": 1})
    age = normal(rng, 31, 5) if department == "maternity" else normal(rng, 56, 19)
    age = round(min(max(age, 0), 104))
    weight = normal(rng, 70 if sex == "f" else 82, 13) * min(1.0, 0.12 + age / 20)
    systolic = round(min(max(normal(rng, 112 + 0.32 * age, 14), 75), 215))
    days = math.ceil(-math.log(1 - rng.random()) * (3.0 + age / 25))
    weighed = f"{max(weight, 2.5):.1f}" if rng.random() > 0.025 else ""
    return f"{age},{sex},{weighed},{systolic},{department},{drawn(rng, TOWNS)},{days}"


def table() -> str:
    """The whole table as CSV."""
    rng = random.Random(20240229)
    return "\n".join([",".join(COLUMNS), *(row(rng) for _ in range(ROWS))]) + "\n"


if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8", newline="\n")
