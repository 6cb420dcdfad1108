from __future__ import annotations

import itertools
import math
from decimal import Context, Decimal, getcontext, localcontext
from fractions import Fraction

import pytest

from discreet.noise.interval import Interval, Uniform, pi, settled
from tests.noise.fit import ScriptedBits

POINTS = [0.1, 0.5, 1.0, 1.5, 3.0, 1e-9, 12345.678, 2.0**60]


def between(low: float, high: float) -> Interval:
    return Interval(Decimal(low), Decimal(high))


def test_arithmetic_holds_the_exact_result() -> None:
    for b, a in itertools.product(POINTS, POINTS):
        x, y, exact_a, exact_b = Interval.of(a), Interval.of(b), Fraction(a), Fraction(b)
        with localcontext(Context(prec=12)):
            for found, exact in [
                (x + y, exact_a + exact_b),
                (x - y, exact_a - exact_b),
                (x * y, exact_a * exact_b),
                (x / b, exact_a / exact_b),
                ((x - y).square(), (exact_a - exact_b) ** 2),
            ]:
                assert Fraction(found.lo) <= exact <= Fraction(found.hi)
                assert float(found.hi - found.lo) <= 1e-9 * ((a + b) ** 2 + a / b + 1)


def test_products_of_intervals_hold_every_corner() -> None:
    product = between(-2, 3) * between(-5, 7)
    assert product.lo <= -15
    assert product.hi >= 21
    assert between(-2, 1).square().lo <= 0
    assert between(-2, 1).square().hi >= 4


FUNCTIONS = [(Interval.sqrt, Decimal.sqrt), (Interval.exp, Decimal.exp), (Interval.ln, Decimal.ln)]


def test_functions_hold_the_exact_value() -> None:
    for at, (function, reference), precision in itertools.product(
        (1e-12, 0.1, 0.25, 0.7, 1.0), FUNCTIONS, (12, 40, 100)
    ):
        with localcontext(Context(prec=150)):
            exact = reference(Decimal(at))
        with localcontext(Context(prec=precision)):
            found = function(Interval.of(at))
            assert found.lo <= exact <= found.hi
            assert found.hi - found.lo <= abs(exact) * Decimal(10) ** (2 - precision) + Decimal("1E-1000")


def test_cosines_hold_those_that_geometry_knows() -> None:
    for (turns, cosine), precision in itertools.product(
        (
            ((1, 1), "1"),
            ((1, 2), "-1"),
            ((1, 3), "-0.5"),
            ((3, 4), "0"),
            ((-1, 4), "0"),
            ((1, 8), "sqrt 0.5"),
            ((11, 12), "sqrt 0.75"),
            ((1, 10), "golden"),
        ),
        (20, 40, 100),
    ):
        with localcontext(Context(prec=150)):
            match cosine.split():
                case ["sqrt", square]:
                    exact = Decimal(square).sqrt()
                case ["golden"]:
                    exact = (1 + Decimal(5).sqrt()) / 4
                case _:
                    exact = Decimal(cosine)
        with localcontext(Context(prec=precision)):
            found = (Interval.of(turns[0]) / turns[1]).cosine()
            assert found.lo <= exact <= found.hi
            assert found.hi - found.lo <= Decimal(10) ** (7 - precision)


@pytest.mark.parametrize("low", [-0.25, 0.0, 0.2, 0.49, 0.7])
def test_the_cosine_of_an_interval_holds_all_its_cosines(low: float) -> None:
    found = between(low, low + 0.05).cosine()
    for i in range(11):
        assert found.lo <= Decimal(math.cos(2 * math.pi * (low + 0.005 * i))) <= found.hi


def test_logarithms_and_roots_of_what_may_be_zero_are_open_below() -> None:
    assert between(-1, 1).ln().lo == Decimal("-Infinity")
    assert between(-1, 1).sqrt().lo <= 0


def test_the_floor_is_told_only_when_it_is_sure() -> None:
    assert between(2.1, 2.9).floor() == 2
    assert between(-2.9, -2.1).floor() == -3
    assert between(1.9, 2.1).floor() is None
    assert Interval(Decimal(1), Decimal("Infinity")).floor() is None


def gauss_legendre(precision: int) -> Decimal:
    """Pi by the arithmetic-geometric mean."""
    with localcontext(Context(prec=precision)):
        a, b, t, p = Decimal(1), 1 / Decimal(2).sqrt(), Decimal("0.25"), 1
        for _ in range(10):
            a, b, t, p = (a + b) / 2, (a * b).sqrt(), t - p * ((a - b) / 2) ** 2, 2 * p
        return (a + b) ** 2 / (4 * t)


def test_pi_is_right_to_its_last_digit() -> None:
    for precision in (1, 20, 50, 300):
        with localcontext(Context(prec=precision)):
            assert pi(precision) == +gauss_legendre(350)


def test_a_uniform_real_narrows_down_and_stays() -> None:
    uniform = Uniform(ScriptedBits([], [1 << 63, 5]), known=3, width=2)
    with localcontext(Context(prec=60)):
        assert uniform.interval().lo <= Decimal("0.75")
        assert uniform.interval().hi >= 1
        uniform.refine()
        assert (uniform.known, uniform.width) == ((3 << 64) + (1 << 63), 66)
        narrow = uniform.interval()
        assert narrow.lo <= Decimal("0.875") <= narrow.hi
        assert narrow.hi - narrow.lo < Decimal(2) ** -65


def test_settling_asks_for_bits_and_digits_until_there_is_an_answer() -> None:
    uniform = Uniform(ScriptedBits([], [7, 8, 9]), known=1)
    seen: list[int] = []
    digits: list[int] = []

    def attempt() -> str | None:
        seen.append(uniform.width)
        digits.append(getcontext().prec)
        return "done" if len(seen) == 3 else None

    assert settled(attempt, [uniform]) == "done"
    assert seen == [64, 128, 192]
    assert all(10**prec > 2**width for prec, width in zip(digits, seen, strict=True))
