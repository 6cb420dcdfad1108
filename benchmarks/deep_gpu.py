"""Private training on a GPU beside plain training of the same network.

    python -m benchmarks.deep_gpu [case ...]

A step is forward and backward pass, clipping, noise and the optimizer (SGD with momentum). Plain steps are compiled
whole; ours are too, and step by step. Where the processor cannot keep up with the device, both are one CUDA graph. The
median of up to 30 steps by the device's own clock; memory is the peak while they run; where a batch is in chunks, ours
adds them up as `Trainer` does. Where the package `opacus` is found, its ways to do the same are timed beside.
"""

from __future__ import annotations

import gc
import statistics
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor

from benchmarks.deep_models import CASES, Case, losses
from benchmarks.deep_peers import OPACUS, opacus
from benchmarks.rows import Row, at_least, at_most, missing, printed, report
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.clipping.compiled_sum import CompiledSum
from discreet.deep.noise.device_noise import DeviceNoise
from discreet.deep.noise.fine_grid import on_grid

CUDA, CLIP, MULTIPLIER = "cuda", 1.0, 1.0
TOO_SHORT = 2.0**-9, 2.0**-5  # by how much the lengths of gradients may be understated, in TF32 and in bfloat16
Step = Callable[[], Any]


@dataclass(frozen=True)
class Goal:
    """A case at one size and precision, with what it must reach."""

    case: str
    samples: int
    half: bool = False
    time: float | None = None
    memory: float | None = None
    peer: float | None = None
    graph: bool = False
    chunks: int = 1


ASKED = [
    Goal("MLP", 4096, time=1.3, graph=True),
    Goal("transformer 6x512", 256, time=1.18, memory=1.1),
    Goal("transformer 6x512", 256, half=True, time=1.18, memory=1.1, peer=3.0, graph=True),
    Goal("WRN-16-4", 1024, time=2.0, memory=1.3, peer=1.8, chunks=2),
    Goal("ViT-B", 128, half=True, time=1.3),
]


def precision(half: bool) -> AbstractContextManager[Any]:
    return torch.autocast(CUDA, dtype=torch.bfloat16) if half else nullcontext()


def plain(case: Case, asked: Goal, compiled: bool) -> Step:
    model, (inputs, targets) = case.model().to(CUDA), case.batch(asked.samples, CUDA)
    run: Any = torch.compile(model) if compiled else model
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)

    def step() -> None:
        with precision(asked.half):
            loss = losses(run(inputs), targets).mean()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        optimizer.zero_grad(set_to_none=not asked.graph)

    return step


def private(case: Case, asked: Goal, compiled: bool) -> Step:
    model, (inputs, targets) = case.model().to(CUDA), case.batch(asked.samples, CUDA)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
    noise, named = DeviceNoise(torch.device(CUDA)), dict(model.named_parameters())
    there = torch.ones(asked.samples // asked.chunks, dtype=torch.bool, device=CUDA)
    parts = list(zip(inputs.chunk(asked.chunks), targets.chunk(asked.chunks), strict=True))
    with precision(asked.half):
        graph = CompiledSum(model, losses, *parts[0]) if compiled else None

    def one(inputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
        if graph is not None:
            return graph(inputs, targets, there, CLIP).gradients
        with precision(asked.half):
            found = clipped_sum(model, losses, inputs, targets, clip=CLIP, there=there).gradients
            return {name: on_grid(one, CLIP) for name, one in found.items()}

    def sums() -> dict[str, Tensor]:
        found = one(*parts[0])
        for part in parts[1:]:
            torch._foreach_add_(list(found.values()), list(one(*part).values()))
        return found

    def step() -> None:
        noisy = noise.added(sums(), CLIP * MULTIPLIER)
        torch._foreach_div_(list(noisy.values()), asked.samples)
        for name, one in noisy.items():
            named[name].grad = one
        optimizer.step()

    step.noise = noise  # type: ignore[attr-defined]
    return step


def off(case: Case, asked: Goal) -> tuple[float, float]:
    """By how much lengths of gradients are less, and more, than those of one sample after another in float64."""
    model, (inputs, targets) = case.model().to(CUDA), case.batch(16, CUDA)
    with precision(asked.half):
        found = clipped_sum(model, losses, inputs, targets).norms.double()
    model, inputs = model.double(), inputs if inputs.dtype == torch.long else inputs.double()
    exact = []
    for at in range(len(targets)):
        lost = losses(model(inputs[at : at + 1]), targets[at : at + 1]).sum()
        each = torch.autograd.grad(lost, list(model.parameters()))
        exact.append(torch.stack([one.square().sum() for one in each]).sum().sqrt())
    apart = found / torch.stack(exact) - 1
    return max(0.0, float(-apart.min())), float(apart.max())


def graphed(step: Step) -> Step:
    """The whole step as one CUDA graph."""
    aside = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    aside.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(aside):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(aside)
    graph = torch.cuda.CUDAGraph()
    if hasattr(step, "noise"):
        graph.register_generator_state(step.noise.generator)
    with torch.cuda.graph(graph):
        step()
    return graph.replay


def measured(step: Step, graph: bool = False) -> tuple[float, float]:
    """Milliseconds of a step, and GiB at the peak, which a graph's own memory does not show."""
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    torch.cuda.reset_peak_memory_stats()
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    most, spent = torch.cuda.max_memory_allocated() / 2**30, []
    step = graphed(step) if graph else step
    for _ in range(30):
        first, last = (torch.cuda.Event(enable_timing=True) for _ in range(2))  # type: ignore[no-untyped-call]
        first.record()
        step()
        last.record()
        last.synchronize()
        spent.append(first.elapsed_time(last))
    return statistics.median(spent), most


def tried(make: Callable[[], Step], graph: bool = False) -> tuple[float, float] | str:
    """What was measured, or what went wrong."""
    start = time.perf_counter()
    try:
        torch._dynamo.reset()
        found = measured(make(), graph)
        print(f"    {found[0]:9.3f} ms {found[1]:7.2f} GiB   ({time.perf_counter() - start:.0f} s)", flush=True)
        return found
    except Exception as why:  # the other rows are worth having
        traceback.print_exc(limit=4)
        return f"{type(why).__name__}: {str(why)[:100]}"
    finally:
        gc.collect()
        torch.cuda.empty_cache()


def peers(case: Case, asked: Goal, name: str, own: tuple[float, float] | str) -> list[Row]:
    """How much faster than the fastest way of Opacus."""
    if asked.peer is None or find_spec("opacus") is None or isinstance(own, str):
        return []
    found: dict[str, float] = {}
    for way in OPACUS:
        print(f"... {name}: Opacus, {way}", flush=True)

        def make(way: str = way) -> Step:
            model, batch = case.model().to(CUDA), case.batch(asked.samples, CUDA)
            return opacus(way, model, losses, *batch, CLIP, lambda: precision(asked.half))

        measured = tried(make)
        if not isinstance(measured, str):
            found[way] = measured[0]
    if not found:
        return [missing(f"{name}: Opacus")]
    best = min(found, key=lambda way: found[way])
    return [
        at_least(f"{name}: times faster than Opacus ({best}, {found[best]:.3g} ms)", found[best] / own[0], asked.peer)
    ]


def rows(asked: Goal) -> list[Row]:
    """One case."""
    size = f"{asked.samples}" + (f" in {asked.chunks} chunks" if asked.chunks > 1 else "")
    case, name = CASES[asked.case], f"{asked.case}, {size}, {'bf16' if asked.half else 'TF32'}"
    print(f"... {name}: plain and ours, compiled; plain and ours, step by step", flush=True)
    fast = tried(lambda: plain(case, asked, True), asked.graph)
    own = tried(lambda: private(case, asked, True), asked.graph)
    slow, eager = tried(lambda: plain(case, asked, False)), tried(lambda: private(case, asked, False))
    less, more = off(case, asked)
    found = [
        at_most(f"{name}: lengths of gradients understated by", less, TOO_SHORT[asked.half]),
        printed(f"{name}: lengths of gradients overstated by", more),
    ]
    found += peers(case, asked, name, own)
    for words, ours, theirs, goals in (
        ("compiled", own, fast, (asked.time, asked.memory)),
        ("step by step", eager, slow, (None, None)),
    ):
        if isinstance(ours, str) or isinstance(theirs, str):
            found.append(missing(f"{name}, {words}: {ours if isinstance(ours, str) else theirs}"))
            continue
        for unit, place in (("time", 0), ("peak memory", 1)):
            goal, ratio = goals[place], ours[place] / theirs[place]
            text = f"{name}, {words}: {unit} over plain training ({ours[place]:.3g} over {theirs[place]:.3g})"
            found.append(printed(text, ratio) if goal is None else at_most(text, ratio, goal))
    return found


def main(chosen: list[str]) -> None:
    """All cases, or those that are named."""
    if unknown := set(chosen) - {asked.case for asked in ASKED}:
        raise SystemExit(f"no case {sorted(unknown)}; there are {sorted({asked.case for asked in ASKED})}")
    torch.set_float32_matmul_precision("high")
    torch.backends.cudnn.allow_tf32 = torch.backends.cudnn.benchmark = True
    found = [row for asked in ASKED if not chosen or asked.case in chosen for row in rows(asked)]
    report("deep_gpu", found)


if __name__ == "__main__":
    main(sys.argv[1:])
