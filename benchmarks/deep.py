"""Private training on one core beside plain training and Opacus, and private models of MNIST.

    python -m benchmarks.deep [--mnist PATH]

A step is forward and backward pass, clipping, noise and the optimizer (SGD with momentum): with noise in float32, as
Opacus draws it, and by the trainer with its secret sample (of everybody) and its exact noise. The least processor time
of several steps, taken in turns. MNIST is trained only where the path of its archive is given: that takes half an hour.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import torch

from benchmarks import deep_mnist
from benchmarks.deep_models import CASES, Case, losses
from benchmarks.deep_peers import OPACUS, opacus
from benchmarks.rows import Row, at_least, at_most, missing, printed, report
from discreet.core.budget import Budget
from discreet.core.mechanism import SecretSample
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.noise.device_noise import DeviceNoise
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian

Step = Callable[[], object]


@dataclass(frozen=True)
class Goal:
    """A case at one size, how often it is timed, and how much longer than a plain step a private one may take."""

    case: str
    samples: int
    rounds: int
    goal: float


ASKED = (
    Goal("MLP", 256, 15, 1.6),
    Goal("ResNet-20", 64, 4, 1.6),
    Goal("transformer 6x512", 8, 3, 1.6),
)


def plain(case: Case, samples: int) -> Step:
    model, (inputs, targets) = case.model(), case.batch(samples, "cpu")
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def step() -> None:
        losses(model(inputs), targets).mean().backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad()

    return step


def private(case: Case, samples: int) -> Step:
    model, (inputs, targets) = case.model(), case.batch(samples, "cpu")
    noise, named = DeviceNoise(torch.device("cpu")), dict(model.named_parameters())
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def step() -> None:
        sums = clipped_sum(model, losses, inputs, targets, clip=1.0).gradients
        for name, noisy in noise.added(sums, 1.0).items():
            named[name].grad = noisy.div_(samples)
        optimizer.step()

    return step


def exact(case: Case, samples: int, rounds: int) -> Step:
    model, (inputs, targets) = case.model(), case.batch(samples, "cpu")
    plan = TrainingPlan(SecretSample(1.0), Gaussian(1.0), rounds, 1.0, float(samples))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    data = PrivateTensors(inputs, targets, Budget(1e6, 1e-5))
    steps = Trainer(model, optimizer, losses, data, plan, chunk=samples).steps()
    return lambda: next(steps)


def peer(case: Case, samples: int, way: str) -> Step:
    model, (inputs, targets) = case.model(), case.batch(samples, "cpu")
    return opacus(way, model, losses, inputs, targets, 1.0, nullcontext)


def least_seconds(steps: dict[str, Step], rounds: int) -> dict[str, float | str]:
    """The least processor time of a step of each, or what went wrong; in turns: a busy machine hits all alike."""
    found: dict[str, float | str] = {}
    for turn in range(rounds + 1):
        for name, step in steps.items():
            known = found.get(name, float("inf"))
            if isinstance(known, str):
                continue
            start = time.process_time()
            try:
                step()
            except Exception as why:  # the other rows are worth having
                found[name] = f"{type(why).__name__}: {why!s:.80}"
                continue
            if turn:  # the first one warms up
                found[name] = min(known, time.process_time() - start)
    return found


def rows(asked: Goal) -> list[Row]:
    """One case: over plain training, and how much faster than the fastest way of Opacus."""
    case, name = CASES[asked.case], f"{asked.case}, {asked.samples}, one core"
    steps = {"plain": plain(case, asked.samples), "ours": private(case, asked.samples)}
    steps["exact"] = exact(case, asked.samples, asked.rounds + 1)
    try:
        steps |= {way: peer(case, asked.samples, way) for way in OPACUS}
    except ImportError:
        print("    Opacus is not installed", flush=True)
    took = least_seconds(steps, asked.rounds)
    print(
        "    "
        + ", ".join(f"{way} {one:.3g}" if isinstance(one, float) else f"{way} {one}" for way, one in took.items())
    )
    base, ours, slow = took["plain"], took["ours"], took["exact"]
    if isinstance(base, str) or isinstance(ours, str) or isinstance(slow, str):
        return [missing(f"{name}: {next(one for one in (base, ours, slow) if isinstance(one, str))}")]
    found = [at_most(f"{name}: private step over a plain one ({1e3 * base:.3g} ms)", ours / base, asked.goal)]
    found.append(printed(f"{name}: the same by the trainer, with exact noise", slow / base))
    peers = {way: one for way, one in took.items() if way in OPACUS and isinstance(one, float)}
    if not peers:
        return [*found, missing(f"{name}: Opacus")]
    fastest = min(peers, key=lambda way: peers[way])
    found.append(at_least(f"{name}: fastest of Opacus ({fastest}) over ours", peers[fastest] / ours, 1.0))
    return [*found, *(printed(f"{name}: Opacus, {way}, over ours", one / ours) for way, one in peers.items())]


def main() -> None:
    """All rows."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--mnist", type=Path)
    given = parser.parse_args()
    torch.set_num_threads(1)
    found: list[Row] = []
    for asked in ASKED:
        print(f"... {asked.case}", flush=True)
        found += rows(asked)
    if given.mnist is not None:
        print("... MNIST", flush=True)
        found += deep_mnist.rows(given.mnist)
    report("deep", found)


if __name__ == "__main__":
    main()
