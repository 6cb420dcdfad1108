"""A training run that is killed again and again, goes on from its last checkpoint, and notes every draw beforehand."""

from __future__ import annotations

import os
import random
import signal
import sys
import time
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from torch import nn

from discreet.accounting.accountant import epsilon
from discreet.core.events import Event, Repeated
from discreet.core.mechanism import SecretSample
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from tests.ledger.ledger_soak import note, noted

BLOCK = 3
PLAN = TrainingPlan(SecretSample(0.1), Gaussian(8.0), 10**6, 1.0, 10.0)
TRACED = (
    "trainer.py",
    "sampled_gradient.py",
    "permit.py",
    "processes.py",
    "sqlite_ledger.py",
    "ledger_file.py",
    "chain.py",
)


def train_for_ever(path: str, notes: Path) -> None:
    """Go on from the last checkpoint, if there is one; note each draw before it is made."""
    torch.manual_seed(0)
    model, x = nn.Linear(3, 2), torch.randn(100, 3)
    losses = nn.CrossEntropyLoss(reduction="none")
    data = PrivateTensors(x, (x[:, 0] > 0).long(), SqliteLedger.open(path))
    run = Trainer(model, torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9), losses, data, PLAN, block=BLOCK)
    kept = Path(f"{path}.pt")
    if kept.exists():
        run.resume(torch.load(kept))
    answer = run._gradient.answer

    def noted_answer(view: Any) -> Any:
        note(notes, "drawn")
        return answer(view)

    run._gradient.answer = noted_answer  # type: ignore[method-assign]
    for _ in run.steps():
        torch.save(run.checkpoint(), f"{kept}.new")
        os.replace(f"{kept}.new", kept)


def die_at_line(left: int) -> None:
    """Have this process killed when so many lines of the trainer and of the ledger have run."""

    def trace(frame: FrameType, event: str, arg: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.endswith(TRACED):
            return None
        if event == "line":
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
        return trace

    sys.settrace(trace)


def started(path: str, notes: Path, lines: int | None) -> int:
    """Fork a run that goes on until it is killed; its process."""
    pid = os.fork()
    if pid == 0:
        try:
            torch.set_num_threads(1)
            if lines is not None:
                die_at_line(lines)
            train_for_ever(path, notes)
        finally:
            os._exit(1)
    return pid


def times(event: Event) -> int:
    """How many steps an entry paid for."""
    return event.times if isinstance(event, Repeated) else 1


def trial(path: str, notes: str, kills: int, seed: int) -> None:
    """Kill the run so many times, at a random line or at a random time, and hold the ledger against the notes."""
    import_module("torch._dynamo")  # what optimizers load when they are first used: once here, and not in every fork
    draw, file = random.Random(seed), Path(notes)
    with SqliteLedger.open(path) as ledger:
        ledger.affords(PLAN.event_of(BLOCK))  # the price is computed once, and forks know it
    for i in range(kills):
        before = len(noted(file))
        pid = started(path, file, draw.randrange(1, 1500) if i % 2 else None)
        if i % 2 == 0:
            while len(noted(file)) == before:
                time.sleep(0.002)
            time.sleep(draw.uniform(0.0, 0.1))
            os.kill(pid, signal.SIGKILL)
        _, status = os.waitpid(pid, 0)
        assert os.WIFSIGNALED(status), "the run ended by itself"
        with SqliteLedger.open(path) as ledger:
            paid, drawn = sum(times(entry.event) for entry in ledger.entries()), len(noted(file))
            assert drawn <= paid <= drawn + BLOCK * (i + 1)
    with SqliteLedger.open(path) as ledger:
        ledger.verify()
        assert 2 * drawn >= kills
        assert ledger.balance().certified >= epsilon(PLAN.event_of(drawn), ledger.budget.delta)
