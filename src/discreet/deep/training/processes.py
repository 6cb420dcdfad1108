"""The processes that train together: one, or as many as `torch.distributed` has started."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from torch import Tensor, distributed, nn

from discreet.core.errors import ParameterError

ASKED = "train in several processes"
T = TypeVar("T")


class Processes(Protocol):
    """Who takes part in a step, and who pays for it."""

    @property
    def first(self) -> bool:
        """Whether this is the process whose ledger is charged."""

    def start(self, model: nn.Module, agreed: str, rehearse: Callable[[], None]) -> None:
        """Rehearse everywhere, before any charge; then give all processes the weights of the first."""

    def told(self, action: Callable[[], T]) -> T:
        """What the first process does and finds, or raises: for all, and not before it is done."""

    def summed(self, sums: Tensor) -> Tensor:
        """The sums over all processes, in the first of them."""

    def shared(self, release: Tensor) -> Tensor:
        """What the first process released, for all."""


class OneProcess:
    """A process by itself."""

    first = True

    def start(self, model: nn.Module, agreed: str, rehearse: Callable[[], None]) -> None:
        """Rehearse."""
        rehearse()

    def told(self, action: Callable[[], T]) -> T:
        """The result of the action."""
        return action()

    def summed(self, sums: Tensor) -> Tensor:
        """The sums."""
        return sums

    def shared(self, release: Tensor) -> Tensor:
        """The release."""
        return release


class DistributedProcesses:
    """The processes of a `torch.distributed` group, each with records of its own.

    Every record is with one process, which tosses its coins. All processes make every step, even those whose sample is
    empty: their sums are zero. The first process pays before any of them draws a sample, adds up the clipped sums of
    all, and adds the noise, once; so it sees exact sums, as a curator does.

    Guarantee
    ---------
    That of `Trainer`, for the records of all processes together: a sample of theirs is a Poisson sample of all records,
    and the sum of their clipped sums is the clipped sum of all.

    Examples
    --------
    In a program that `torchrun` starts on every host, after `torch.distributed.init_process_group()`:

    >>> processes = DistributedProcesses()  # given to Trainer(..., processes=processes)
    """

    @property
    def first(self) -> bool:
        """Whether this is the process whose ledger is charged."""
        return distributed.get_rank() == 0

    def start(self, model: nn.Module, agreed: str, rehearse: Callable[[], None]) -> None:
        """Refuse everywhere what fails anywhere, or what not all agree on; then share the weights of the first."""
        failure: Exception | None = None
        try:
            rehearse()
        except Exception as error:  # raised below, after the others have heard of it
            failure = error
        said: list[Any] = [None] * distributed.get_world_size()
        distributed.all_gather_object(said, (agreed, failure))
        if failure is not None:
            raise failure
        for rank, (other, failed) in enumerate(said):
            if failed is not None:
                raise ParameterError(ASKED, f"process {rank} failed: {failed}", "See what it says.")
            if other != said[0][0]:
                obstacle = f"process {rank} has another plan, state or model than the first"
                raise ParameterError(ASKED, obstacle, "Build the same ones in every process.")
        for part in (*model.parameters(), *model.buffers()):
            distributed.broadcast(part.detach(), src=0)

    def told(self, action: Callable[[], T]) -> T:
        """What the first process does and finds, or raises: for all, and not before it is done."""
        said: list[Any] = [None, None]
        if self.first:
            try:
                said[0] = action()
            except Exception as error:  # raised below, by all
                said[1] = error
        distributed.broadcast_object_list(said, src=0)
        if said[1] is not None:
            raise said[1]
        found: T = said[0]
        return found

    def summed(self, sums: Tensor) -> Tensor:
        """The sums over all processes, in the first of them.

        In float64: sums on a grid add up without rounding, whichever process comes first.
        """
        whole = sums.double()
        distributed.reduce(whole, dst=0)
        return whole

    def shared(self, release: Tensor) -> Tensor:
        """What the first process released, for all."""
        distributed.broadcast(release, src=0)
        return release


def current_processes() -> Processes:
    """Those of `torch.distributed`, if it was started; otherwise this one."""
    many = distributed.is_available() and distributed.is_initialized() and distributed.get_world_size() > 1
    return DistributedProcesses() if many else OneProcess()
