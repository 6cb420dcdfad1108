"""Whether audits could see a mistake: each that finds nothing must refute the same noise made a third smaller.

    python -m tests.power [test file ...]

While tests run, every verdict by which a claim stands is passed again, on the same outputs, against the claim that
noise half as large again would have: by symmetry what two thirds of the noise would show. A test in which no verdict on
a claim refutes that could not see such a mistake, and fails. One that is not meant to see it says why: `partial_audit`.
Run by itself, this prints a table of all audits of the tests, as `make power` does.
"""

from __future__ import annotations

import dataclasses
import functools
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from discreet.audit import trial
from discreet.core import events

LESS = 1.5
TWO_THIRDS = "two_thirds_of_the_noise"
WORDS = ("judged", "audited", "trial(", "Audit(", "check_releases")
AUDITORS = ("audit", "look")  # tests of the audits themselves
ROOT = Path(__file__).parents[1]


@dataclasses.dataclass(frozen=True)
class Audited:
    """One audit: what was claimed, what the outputs show of it, and whether they refute a third less noise."""

    test: str
    claim: events.Event
    holds: bool
    tightness: float
    powerful: bool

    def __str__(self) -> str:
        outcome = ("REFUTED" if self.powerful else "NOT SEEN") if self.holds else "broken twin, refuted"
        claim = textwrap.shorten(repr(self.claim), 90, placeholder=" ...")
        return f"{self.test}\n    {claim}: shown {self.tightness:.3f} of the claim; 2/3 of the noise: {outcome}"


class Power:
    """A plugin of pytest: notes every verdict of the test that runs, and fails the tests whose audits see nothing."""

    name = "power"

    def __init__(self) -> None:
        self.found: list[Audited] = []
        self._here: list[Audited] = []
        self._test = ""
        self._judged = trial.judged

    def pytest_configure(self) -> None:
        """Before tests import it by name."""
        trial.judged = self._noting

    @functools.cached_property
    def _noting(self) -> Callable[..., trial.Verdict]:
        @functools.wraps(self._judged)
        def noting(claim: events.Event, *outputs: Any, **more: Any) -> trial.Verdict:
            found = self._judged(claim, *outputs, **more)
            powerful = found.holds and refutes_less(found)
            self._here.append(Audited(self._test, claim, found.holds, found.tightest.tightness, powerful))
            return found

        return noting

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        self._test, self._here = item.nodeid, []
        yield
        self.found += self._here
        seen = {one.claim for one in self._here if one.powerful}
        weak = [one for one in self._here if one.holds and one.claim not in seen]
        if weak and self._bound(item):
            pytest.fail("an audit does not see two thirds of the noise:\n" + "\n".join(map(str, weak)), pytrace=False)

    def _bound(self, item: pytest.Item) -> bool:
        """Whether this has to see it here: it audits the library, not the auditor, and does not see it otherwise."""
        of_audits = item.path.parent.name in AUDITORS or not isinstance(item, pytest.Function)
        itself = TWO_THIRDS in item.name or item.get_closest_marker("partial_audit") is not None
        return not of_audits and not itself


def refutes_less(found: trial.Verdict) -> bool:
    """Whether the outputs refute the claim of noise half as large again."""
    claim = weaker(found.claim)
    if claim is None:
        return any(LESS * one.shown > one.claimed for one in found.findings)
    allowed = trial.allowed_epsilons(claim)
    return not all(one.stands for one in (*trial._epsilons(found.bound, allowed), *trial._mus(found.bound, claim)))


@functools.lru_cache(256)
def weaker(claim: events.Event) -> events.Event | None:
    """The price of noise half as large again; None where it is not known by its noise."""
    match claim:
        case events.PureLoss(epsilon):
            return events.PureLoss(epsilon / LESS)
        case events.LaplaceLoss(multiplier):
            return events.LaplaceLoss(multiplier * LESS)
        case events.GaussianLoss(multiplier):
            return events.GaussianLoss(multiplier * LESS)
        case events.ConcentratedLoss(rho):
            return events.ConcentratedLoss(rho / LESS**2)
        case events.Repeated(event, times) if (one := weaker(event)) is not None:
            return events.Repeated(one, times)
        case events.Sampled(event, rate, scheme) if (one := weaker(event)) is not None:
            return events.Sampled(one, rate, scheme)
        case events.Composed(parts) if all(weaker(part) is not None for part in parts):
            return events.Composed(tuple(one for part in parts if (one := weaker(part)) is not None))
    return None


def main(given: list[str]) -> int:
    """Run the tests that audit, and print what each audit could see."""
    paths = given or [str(path) for path in sorted((ROOT / "tests").rglob("test_*.py")) if _audits(path)]
    power = Power()

    class Given:
        @staticmethod
        @pytest.hookimpl(tryfirst=True)
        def pytest_configure(config: pytest.Config) -> None:
            config.pluginmanager.register(power, Power.name)

    status = pytest.main(["-q", "-m", "not slow", "-p", "no:cacheprovider", *paths], plugins=[Given()])
    for one in power.found:
        print(one)
    claims = {(one.test, one.claim) for one in power.found if one.holds}
    seen = {(one.test, one.claim) for one in power.found if one.powerful}
    itself = {(test, claim) for test, claim in claims - seen if TWO_THIRDS in test}
    print(f"{len(claims)} claims stand; two thirds of the noise would be refuted for {len(seen | itself)} of them,")
    print(f"for {len(itself)} by other outputs; {len(claims - seen - itself)} are in partial audits, which say so")
    return int(status)


def _audits(path: Path) -> bool:
    return path.parent.name not in AUDITORS and any(word in path.read_text() for word in WORDS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
