"""Sums before noise: in answers, and in the files that ask, clip and add noise alone."""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import discreet
from discreet.core.budget import Budget
from discreet.core.mechanism import SecretSample
from discreet.deep.questions.sampled_gradient import SampledGradient
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian

HOME = Path(discreet.__file__).parent
CONTRACTS = tomllib.loads((HOME.parents[1] / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
KNOW = ("clipping", "forms", "layers", "checks", "questions", "noise", "training/processes.py")
"""Where exact sums may be: what computes them, asks them, adds them up and adds noise."""


def protected() -> list[tuple[set[str], tuple[str, ...]]]:
    """What holds exact sums or records, and who may import it, as the contracts say."""
    found = [one for one in CONTRACTS if one["type"] == "protected"]
    return [(set(one["protected_modules"]), tuple(one["allowed_importers"])) for one in found]


def illegal(module: str, source: str) -> list[str]:
    """What a file imports at run time that it may not."""
    tree = ast.parse(source)
    for node in ast.walk(tree):  # what is imported for types alone is nothing that is held
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            node.body = []
    imported = {one.module for one in ast.walk(tree) if isinstance(one, ast.ImportFrom) and one.module}
    return [
        name
        for names, allowed in protected()
        for name in imported & names
        if not any(f"{module}.".startswith(f"{one}.") for one in (*allowed, *names))
    ]


def test_the_contracts_name_every_type_of_exact_sums() -> None:
    names = set().union(*(one for one, _ in protected()))
    assert names >= {
        "discreet.core.answer",
        "discreet.deep.noise.exact_sum",
        "discreet.deep.clipping.clipped_sum",
        "discreet.deep.questions.tensors_view",
    }


def test_no_file_imports_what_it_may_not_know_and_a_new_one_would_be_seen() -> None:
    for path in (HOME / "deep").rglob("*.py"):
        module = ".".join(("discreet", *path.relative_to(HOME).with_suffix("").parts))
        assert not illegal(module, path.read_text()), path
    new = "from discreet.deep.clipping.clipped_sum import clipped_sum\n"
    assert illegal("discreet.deep.models.new", new)
    assert illegal("discreet.deep.training.new", "from discreet.deep.questions.tensors_view import TensorsView\n")
    assert illegal("discreet.deep.models.new", "from discreet.core.answer import Answer\n")


def holds(value: Any, sums: Tensor, depth: int = 4) -> bool:
    """Whether numbers in a value are these sums."""
    match value:
        case Tensor() | np.ndarray():
            flat = np.asarray(value.detach() if isinstance(value, Tensor) else value).ravel()
            return flat.size >= len(sums) and bool(np.isclose(flat[: len(sums)], sums.numpy(), rtol=1e-6).all())
        case str() | bytes() | None | nn.Module():
            return False
        case Mapping():
            return depth > 0 and any(holds(one, sums, depth - 1) for one in value.values())
        case list() | tuple():
            return depth > 0 and any(holds(one, sums, depth - 1) for one in value)
        case _ if is_dataclass(value) and not isinstance(value, type):
            return depth > 0 and any(holds(one, sums, depth - 1) for one in getattr(value, "__dict__", {}).values())
    return False


def shown(files: Iterable[str], run: Any, sums: Tensor) -> set[str]:
    """The files, beside those that may, in which a function is given or gives exact sums."""
    found: set[str] = set()

    def noted(frame: FrameType, event: str, given: Any) -> None:
        file = frame.f_code.co_filename
        if event in ("call", "return") and file.startswith(str(HOME / "deep")):
            name = file[len(str(HOME / "deep")) + 1 :]
            if not name.startswith(tuple(files)) and any(
                holds(one, sums) for one in (given, *list(frame.f_locals.values()))
            ):
                found.add(name)

    sys.setprofile(noted)
    try:
        run()
    finally:
        sys.setprofile(None)
    return found


def trainer() -> tuple[Trainer, Tensor]:
    """A step on all of six records with much noise, and its exact sums."""
    torch.manual_seed(0)
    model, x = nn.Linear(3, 1, bias=False), torch.randn(6, 3)
    plan = TrainingPlan(SecretSample(1.0), Gaussian(50.0), 1, 1e3, 1.0)
    data = PrivateTensors(x, torch.zeros(6), Budget(10.0, 1e-5))

    def first(given: Tensor, _: Tensor) -> Tensor:
        return given[:, 0]

    return Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1), first, data, plan), x.double().sum(dim=0)


def test_a_step_shows_its_exact_sums_to_no_other_file() -> None:
    run, sums = trainer()
    assert shown(KNOW, run.run, sums) == set()
    run, sums = trainer()
    assert {"questions/sampled_gradient.py", "noise/exact_sum.py"} <= shown((), run.run, sums)


def test_a_new_file_that_keeps_sums_in_something_else_would_be_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    run, sums = trainer()
    code = compile("def kept(sums):\n    return {'sums': sums}\n", str(HOME / "deep/training/new_sums.py"), "exec")
    new: dict[str, Any] = {}
    exec(code, new)
    own = SampledGradient._sums

    def leaking(self: SampledGradient, chunks: Any) -> Any:
        return new["kept"](own(self, chunks))["sums"]

    monkeypatch.setattr(SampledGradient, "_sums", leaking)
    assert shown(KNOW, run.run, sums) == {"training/new_sums.py"}
