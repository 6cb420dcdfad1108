"""The examples of CONTRIBUTING work as they stand, and the walk alone refuses them with one line made wrong.

Here they are added to the modules of this process. `python -m tests.additions` adds all of them to a copy of the tree.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import pytest

from discreet.core.errors import DiscreetError
from discreet.deep.layers.rule import _RULES, load_rules
from discreet.local.protocol import kinds
from discreet.questions.recipe import RECIPES
from tests.additions import MISTAKES, Example, examples
from tests.conformance import (
    test_attack_kinds,
    test_layers,
    test_mechanisms,
    test_randomizers,
    test_sources,
    test_streams,
    test_trials,
    test_trust_models,
)

EXAMPLES = {one.place: one for one in examples()}
TRIED: dict[str, tuple[ModuleType, ...]] = {
    "mechanisms/selection/noisy_sign": (test_trials, test_mechanisms),
    "sequential/counters/plain_counter": (test_trials, test_streams),
    "local/oracles/one_question": (test_trials, test_randomizers),
    "deep/layers/prelu": (test_layers,),
    "trust/sources/json_lines": (test_sources,),
    "trust/named_sums": (test_trust_models,),
    "attacks/membership/gap_attack": (test_attack_kinds,),
}
"""What says something about each, of those whose trials are short."""


def added(one: Example, code: str, monkeypatch: pytest.MonkeyPatch) -> list[ModuleType]:
    """The modules of an example, with those that it needs, as if its files were there."""
    load_rules()
    monkeypatch.setattr("discreet.questions.recipe.RECIPES", dict(RECIPES))
    monkeypatch.setattr("discreet.deep.layers.rule._RULES", dict(_RULES))
    monkeypatch.setattr(test_layers, "_RULES", sys.modules["discreet.deep.layers.rule"]._RULES)
    monkeypatch.setattr("discreet.local.protocol.kinds", kinds.__wrapped__)  # those of now, whoever has asked before
    modules = []
    for path, text in reversed(one.files(code).items()):
        modules.append(ModuleType(path.removeprefix("src/").removesuffix(".py").replace("/", ".")))
        monkeypatch.setitem(sys.modules, modules[-1].__name__, modules[-1])
        if path.startswith("src/"):
            exec(compile(text, path, "exec"), vars(modules[-1]))
    for made, text in zip(modules, reversed(one.files(code).values()), strict=True):
        if made.__name__.startswith("tests."):
            exec(compile(text, made.__name__, "exec"), vars(made))
    return modules


def subject(modules: list[ModuleType]) -> Any:
    """The class, or the rule, that an example is about."""
    (own,) = [one for one in modules if one.__name__.startswith("discreet.")]
    defined = [one for one in vars(own).values() if inspect.isclass(one) or inspect.isfunction(one)]
    found = [one for one in defined if one.__module__ == own.__name__]
    return next(one for one in found if not one.__name__.startswith(("_", "Open")))


def claims(modules: tuple[ModuleType, ...]) -> Iterator[Callable[[Any], None]]:
    """All that is said about each kind, but for the long trials."""
    for module in modules:
        for said in [one for name, one in vars(module).items() if name.startswith("test_")]:
            marks = {mark.name for mark in getattr(said, "pytestmark", [])}
            if hasattr(said, "claim"):
                yield said.claim
            elif "parametrize" in marks and "slow" not in marks:
                yield said


@pytest.mark.parametrize("place", EXAMPLES)
def test_every_example_is_a_file_and_its_test_and_passes(place: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in added(EXAMPLES[place], EXAMPLES[place].code, monkeypatch):
        for claim in [value for key, value in vars(module).items() if key.startswith("test_")]:
            claim()


@pytest.mark.partial_audit("the walk audits it: here it is asked whether it would refuse mistakes")
@pytest.mark.parametrize("place", TRIED)
def test_the_walk_says_nothing_against_an_example_and_refuses_it_made_wrong(
    place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = EXAMPLES[place]
    for number, code in enumerate([one.code, *one.wrong]):
        with monkeypatch.context() as patch:
            found = refusal(subject(added(one, code, patch)), TRIED[place])
        assert (found is not None) == (number > 0), f"{number}: {found}"


def refusal(kind: Any, modules: tuple[ModuleType, ...]) -> BaseException | None:
    """Why the first claim that does not hold does not."""
    for claim in claims(modules):
        try:
            claim(kind)
        except (AssertionError, ArithmeticError, LookupError, ValueError, DiscreetError, pytest.fail.Exception) as why:
            return why
    return None


def test_every_example_has_mistakes() -> None:
    assert MISTAKES.keys() == EXAMPLES.keys()
    assert all(one.wrong for one in EXAMPLES.values())
