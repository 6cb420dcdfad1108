"""Two processes train as one: this one, and one that is started for all claims together."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, distributed, nn

from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, ParameterError
from discreet.core.mechanism import SecretSample
from discreet.core.neighbors import Neighbors
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.processes import DistributedProcesses
from discreet.deep.training.trainer import Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from tests.deep.training.test_trainer import crossed, network, people

fresh: Any = multiprocessing.get_context("spawn" if sys.platform == "win32" else "forkserver")
fresh.set_forkserver_preload(["tests.deep.training.killed_runs", __name__])  # what fresh processes need is loaded once
SHARES = (slice(0, 70), slice(70, 100))
AMPLE = Budget(1e4, 1e-5)
Found = tuple[dict[str, Tensor], dict[str, Tensor]]


def trainer(rank: int, records: slice, plan: TrainingPlan, ledger: Any, block: int | None = None) -> Trainer:
    model = network(seed=rank)  # other weights in every process: the first one's count
    x, y = people(100)
    data = PrivateTensors(x[records], y[records], ledger)
    return Trainer(model, torch.optim.SGD(model.parameters(), lr=1.0), crossed, data, plan, block=block)


def flat(model: nn.Module) -> Tensor:
    return torch.cat([one.detach().flatten() for one in model.parameters()])


def sums(rank: int, folder: Path) -> Tensor:
    """The clipped sums of both shares, without noise."""
    x, y = people(100)
    found = clipped_sum(network(), crossed, x[SHARES[rank]], y[SHARES[rank]], clip=0.3).gradients
    processes, own = DistributedProcesses(), torch.cat([one.flatten() for one in found.values()])
    return processes.shared(processes.summed(own))


def trained(rank: int, folder: Path) -> Tensor:
    """Four steps in two blocks, of which only the first process's ledger hears; the second has nobody."""
    plan = TrainingPlan(SecretSample(0.2), Gaussian(2.0), 4, 1.0, 20.0)
    path = folder / "ledger.db"
    ledger = SqliteLedger.create(path, AMPLE, name="people", neighbors=Neighbors.ADD_REMOVE) if rank == 0 else AMPLE
    run = trainer(rank, (slice(0, 100), slice(0, 0))[rank], plan, ledger, block=2)
    charged = [step.charged for step in run.steps()]
    assert charged[0] == charged[1] < charged[2] == charged[3]
    if rank == 0:
        assert [entry.committed for entry in run._data.ledger.entries()] == [True, True]
    else:
        assert run._data.ledger.entries() == ()
        with pytest.raises(ParameterError, match="first process"):
            run.card()
    return flat(run.model)


def noise(rank: int, folder: Path) -> Tensor:
    """A step on nobody: the gradient is the noise alone."""
    model = nn.Linear(100, 100, bias=False)
    data = PrivateTensors(torch.zeros(0, 100), torch.zeros(0, 100), AMPLE)
    plan = TrainingPlan(SecretSample(0.5), Gaussian(1.5), 1, 1.0, 1.0)
    Trainer(model, torch.optim.SGD(model.parameters(), lr=0.0), lambda a, b: (a - b).sum(dim=1), data, plan).run()
    assert model.weight.grad is not None
    return model.weight.grad.flatten()


def refused(kind: type[DiscreetError], word: str, run: Trainer) -> Tensor:
    with pytest.raises(kind, match=word):
        run.run()
    assert run._data.ledger.entries() == ()
    return torch.zeros(0)


def too_dear(rank: int, folder: Path) -> Tensor:
    """What the first account cannot pay is refused everywhere, although the second account could."""
    plan = TrainingPlan(SecretSample(1.0), Gaussian(0.5), 50, 1.0, 100.0)
    return refused(
        BudgetExceeded, "with more noise", trainer(rank, SHARES[rank], plan, Budget(0.1, 1e-5) if rank == 0 else AMPLE)
    )


def other_plan(rank: int, folder: Path) -> Tensor:
    """A process that samples more often than the plan that is paid for."""
    plan = TrainingPlan(SecretSample(0.5 if rank else 0.1), Gaussian(1.0), 1, 1.0, 10.0)
    return refused(ParameterError, "another plan", trainer(rank, SHARES[rank], plan, AMPLE))


def failing(rank: int, folder: Path) -> Tensor:
    """A loss that is wrong in one process alone."""
    run = trainer(rank, SHARES[rank], TrainingPlan(SecretSample(0.1), Gaussian(1.0), 1, 1.0, 10.0), AMPLE)
    if rank == 1:
        run._gradient._losses = nn.CrossEntropyLoss()
    return refused(ParameterError, "one loss for each sample", run)


def other_clip(rank: int, folder: Path) -> Tensor:
    """A process that goes on from another clip than the one that noise is for, as a quantile may have moved it."""
    plan = TrainingPlan.of(AMPLE, batch=10, expected_size=100, quantile=0.5)
    run = trainer(rank, SHARES[rank], plan, AMPLE)
    run.resume({**run.checkpoint(), "gradients": {"clip": 100.0 if rank else 1.0}})
    return refused(ParameterError, "another plan, state", run)


def other_chunk(rank: int, folder: Path) -> Tensor:
    """A process that adds up in other portions, whose rounding is bounded otherwise."""
    run = trainer(rank, SHARES[rank], TrainingPlan(SecretSample(0.1), Gaussian(1.0), 1, 1.0, 10.0), AMPLE)
    run._gradient._chunk = 64 + rank
    return refused(ParameterError, "another plan, state", run)


REFUSED = (too_dear, other_plan, failing, other_clip, other_chunk)
CLAIMS: tuple[Callable[[int, Path], Tensor], ...] = (sums, trained, noise, *REFUSED)


def session(rank: int, folder: Path) -> None:
    """All claims, one after another, in this process; what it found is left in a file."""
    torch.set_num_threads(1)
    store = f"file://{folder / 'store'}"
    wait = timedelta(seconds=120)
    distributed.init_process_group("gloo", init_method=store, rank=rank, world_size=2, timeout=wait)
    try:
        torch.save({claim.__name__: claim(rank, folder) for claim in CLAIMS}, folder / f"{rank}.pt")
    finally:
        distributed.destroy_process_group()


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Found:
    folder = tmp_path_factory.mktemp("processes")
    other = fresh.Process(target=session, args=(1, folder))
    other.start()
    try:
        session(0, folder)
        other.join(120)
        assert other.exitcode == 0
    finally:
        other.kill()
    return torch.load(folder / "0.pt"), torch.load(folder / "1.pt")


@pytest.mark.xdist_group("processes")
def test_clipped_sums_of_both_are_those_of_one(found: Found) -> None:
    x, y = people(100)
    alone = clipped_sum(network(), crossed, x, y, clip=0.3).gradients
    whole = torch.cat([one.flatten() for one in alone.values()])
    for each in found:
        assert float((each["sums"] - whole).norm()) <= 1e-6 * float(whole.norm())


@pytest.mark.xdist_group("processes")
def test_both_make_every_step_and_end_with_one_model(found: Found) -> None:
    assert torch.equal(found[0]["trained"], found[1]["trained"])
    assert not torch.equal(found[0]["trained"], flat(network()))


@pytest.mark.xdist_group("processes")
def test_noise_is_added_once(found: Found) -> None:
    """10,000 numbers show a deviation to 0.7 %; noise of both would be 41 % more."""
    assert torch.equal(found[0]["noise"], found[1]["noise"])
    assert abs(float(found[0]["noise"].std()) / 1.5 - 1) < 0.04
