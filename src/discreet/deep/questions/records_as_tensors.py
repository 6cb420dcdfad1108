"""How the records behind a permit become tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from discreet.core.errors import NotPermitted
from discreet.core.held import Secret, unheld
from discreet.core.ledger import Ledger
from discreet.core.neighbors import Neighbors
from discreet.deep.questions.tensors_view import Chunk, TensorsView, blank_chunk
from discreet.trust.permit import KEPT


@unheld("cache")
class RecordsAsTensors(Secret):
    """How the records behind a permit become tensors: rows of a table, or tensors that go through a fixed map.

    They are read at the first question, and kept for those that follow, as long as the same records are asked.

    Parameters
    ----------
    of : callable
        Public. From a view to inputs and targets, each record by itself.
    like : tuple of Tensor
        Public. Inputs and targets of nobody, or made up: their shapes and types are those of all.
    ledger : Ledger
        The account of the records.
    columns : tuple of str
        Public. What is read, of a table.
    about : Any
        Public. All that decides what is learned of them: whoever asks the same again, under the key of a run whose
        records could not be read, goes on without another charge.
    """

    def __init__(
        self,
        of: Callable[[Any], tuple[Tensor, Tensor]],
        like: tuple[Tensor, Tensor],
        ledger: Ledger,
        columns: tuple[str, ...] = (),
        about: Any = None,
    ) -> None:
        self._of, self._like, self.ledger, self.columns, self.about = of, like, ledger, columns, about
        self._read: tuple[Any, TensorsView] | None = None

    def blank(self, size: int, device: torch.device) -> Chunk:
        """Zeros in the shape of records, none of which is there: public."""
        return blank_chunk(*self._like, size, device)

    def tensors(self, view: Any) -> TensorsView:
        """The records of a view; refused where one of them is not a unit that is added or removed."""
        if view.unit.rows != 1 or view.neighbors is not Neighbors.ADD_REMOVE:
            obstacle = f"a unit has {view.unit.rows} rows, under {view.neighbors.value}"
            raise NotPermitted("train a network", obstacle, "Keep one row of each unit, added or removed.", KEPT)
        held = view
        while hasattr(held, "view"):  # what is derived from it is made anew for each question
            held = held.view
        found = self._read  # looked at once: another thread may put its own there at any time
        if found is None or found[0] is not held:
            found = self._read = held, TensorsView(*self._of(view), view.bits)
        return found[1]
