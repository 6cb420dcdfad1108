"""Chances that are rounded to the safe side, and by no more than one float."""

from __future__ import annotations

import math

import mpmath  # type: ignore[import-untyped]

from discreet.local.miss_chance import miss_chance


def test_it_is_the_least_float_that_keeps_the_promise() -> None:
    for epsilon in (1e-5, 0.1, math.log(3), 1.0, 2.5, 10.0, 39.0):
        for inside, outside in ((1, 1), (1, 127), (13, 27), (1, 2**24), (40, 2)):
            with mpmath.workdps(60):
                exact = outside / (inside * mpmath.exp(epsilon) + outside)
                chance = miss_chance(epsilon, inside, outside)
                assert mpmath.mpf(math.nextafter(chance, 0.0)) < exact <= mpmath.mpf(chance)
