"""What is refused before a charge, on made-up records, and what is computed of uses that are not by record."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn import functional

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.mechanism import SecretSample
from discreet.deep.checks.rehearsal import rehearsed
from discreet.deep.clipping.augmentation_multiplicity import AugmentationMultiplicity
from discreet.deep.clipping.clipped_sum import clipped_sum
from discreet.deep.clipping.compiled_sum import CompiledSum
from discreet.deep.forms.rounding import MARGIN, SLACK
from discreet.deep.training.private_tensors import PrivateTensors
from discreet.deep.training.trainer import SlowLayers, Trainer
from discreet.deep.training.training_plan import TrainingPlan
from discreet.mechanisms.additive.gaussian import Gaussian

AMPLE = Budget(1e4, 1e-5)
STEP = TrainingPlan(SecretSample(1.0), Gaussian(1.0), 1, 1.0, 1.0)
WORDS, PLACES = 9, 4


def crossed(given: Tensor, wanted: Tensor) -> Tensor:
    return functional.cross_entropy(given, wanted, reduction="none")


class Reader(nn.Module):
    """Words and their places, in one of several ways."""

    def __init__(self, way: Callable[[Reader, Tensor], Tensor]) -> None:
        super().__init__()
        self.way, self.words, self.places, self.head = way, nn.Embedding(WORDS, 3), nn.Embedding(6, 3), nn.Linear(3, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.head(torch.tanh(self.way(self, x))).mean(dim=1)


def place(x: Tensor) -> Tensor:
    return torch.arange(x.shape[1])


BROADCAST: dict[str, Callable[[Reader, Tensor], Tensor]] = {
    "added": lambda m, x: m.words(x) + m.places(place(x)),
    "of one row": lambda m, x: m.words(x) + m.places(place(x)[None]),
    "with an axis": lambda m, x: m.words(x) + m.places(place(x))[None],
    "expanded": lambda m, x: m.words(x) + m.places(place(x)).expand(len(x), -1, -1),
    "functional": lambda m, x: m.words(x) + m.places.weight[: x.shape[1]],
    "tied by hand": lambda m, x: functional.linear(m.words(x), m.words.weight)[..., :3],
    "all words in a row": lambda m, x: m.words(x.flatten()).view(*x.shape, -1),
    "times first": lambda m, x: m.words(x.T).transpose(0, 1),
}


def one_by_one(model: nn.Module, x: Tensor, y: Tensor, clip: float) -> dict[str, Tensor]:
    """The clipped sum from plain gradients of single records, which no layer has a say in."""
    whole = {name: torch.zeros_like(one) for name, one in model.named_parameters()}
    for record, label in zip(x, y, strict=True):
        fresh = {name: one.detach().clone().requires_grad_() for name, one in model.named_parameters()}
        lost = crossed(functional_call(model, fresh, (record[None],)), label[None])[0]
        parts = torch.autograd.grad(lost, list(fresh.values()), allow_unused=True)
        found = [
            torch.zeros_like(one) if part is None else part for part, one in zip(parts, whole.values(), strict=True)
        ]
        length = torch.sqrt(sum((one.square().sum() for one in found), torch.zeros(())))
        for name, one in zip(whole, found, strict=True):
            whole[name] += one * min(1.0, clip / float(length))
    return whole


@pytest.mark.parametrize("way", BROADCAST)
def test_what_all_records_share_is_clipped_by_record_also_where_records_are_as_many_as_places(way: str) -> None:
    torch.manual_seed(0)
    model = Reader(BROADCAST[way])
    for samples in (PLACES, 5):
        x, y = torch.randint(WORDS, (samples, PLACES)), torch.randint(2, (samples,))
        for clip in (0.2, 1e3):
            wanted = one_by_one(model, x, y, clip * (1 - MARGIN - SLACK))
            found = clipped_sum(model, crossed, x, y, clip=clip).gradients
            whole = torch.cat([one.flatten() for one in wanted.values()])
            assert (torch.cat([one.flatten() for one in found.values()]) - whole).norm() <= 2e-3 * whole.norm()
            assert float(whole.norm()) <= samples * clip
    graph = CompiledSum(model, crossed, x, y, compiler=lambda traced: traced)
    again = graph(x, y, torch.ones(5, dtype=torch.bool), 0.2).gradients
    for name, one in clipped_sum(model, crossed, x, y, clip=0.2).gradients.items():
        torch.testing.assert_close(again[name], one.double(), rtol=1e-4, atol=1e-6)


def test_a_table_of_places_that_is_added_needs_no_gradients_written_out() -> None:
    for way, each in (("added", 0), ("of one row", 0), ("all words in a row", PLACES)):
        found = rehearsed(Reader(BROADCAST[way]), crossed, torch.zeros(0, PLACES).long(), torch.zeros(0).long())
        assert not any(layer.extra for layer in found)
        assert each in {lead.each for layer in found for lead in layer.leads or ()}


class Features(nn.Module):
    """Two layers, with something between them."""

    def __init__(self, between: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.first, self.between, self.last = nn.Linear(3, 4), between, nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        return self.last(self.between(self.first(x)))


def contrastive(given: Tensor, _: Tensor) -> Tensor:
    return -torch.log_softmax(given @ given.T, dim=1).diagonal()


MIXED: dict[str, tuple[Callable[[], nn.Module], Callable[[Tensor, Tensor], Tensor]]] = {
    "centred": (lambda: Features(lambda h: h - h.mean(dim=0)), crossed),
    "by little": (lambda: Features(lambda h: h + 1e-4 * h.mean(dim=0)), crossed),
    "batch norm": (lambda: Features(lambda h: functional.batch_norm(h, None, None, training=True)), crossed),
    "greatest": (lambda: Features(lambda h: h / h.abs().max()), crossed),
    "ones before": (lambda: Features(lambda h: h.cumsum(dim=0)), crossed),
    "ones after": (lambda: Features(lambda h: h.flip(0).cumsum(dim=0).flip(0)), crossed),
    "slopes alone": (lambda: Features(lambda h: h + h.mean(dim=0) - h.mean(dim=0).detach()), crossed),
    "contrastive": (lambda: nn.Linear(3, 2), contrastive),
    "mean loss": (lambda: nn.Linear(3, 2), lambda given, wanted: crossed(given, wanted).mean().expand(len(given))),
    "rare classes": (
        lambda: nn.Linear(3, 2),
        lambda given, wanted: crossed(given, wanted) / torch.bincount(wanted, minlength=2)[wanted],
    ),
    "how many": (lambda: nn.Linear(3, 2), lambda given, wanted: crossed(given, wanted) / len(given)),
    "foreign generator": (
        lambda: Features(lambda h: h * torch.rand(len(h), 1, generator=torch.Generator().manual_seed(torch.seed()))),
        crossed,
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_records_that_meet_are_refused_before_the_charge(name: str) -> None:
    make, losses = MIXED[name]
    torch.manual_seed(0)
    model = make()
    for last in (None, 0.0):  # a last layer that begins at zero hides nothing
        if last is not None and isinstance(model, Features):
            nn.init.zeros_(model.last.weight)
        data = PrivateTensors(torch.randn(20, 3), torch.randint(2, (20,)), AMPLE)
        words = {"how many": "on how many there are", "foreign generator": "Draw them by torch"}
        with pytest.raises(ParameterError, match=words.get(name, "for one record depends on another")):
            Trainer(model, torch.optim.SGD(model.parameters()), losses, data, STEP).run()
        assert data.ledger.balance().certified == 0


class Observer(nn.Module):
    """A layer that notes what it was given."""

    def __init__(self, note: Callable[[Observer, Tensor], Any]) -> None:
        super().__init__()
        self.layer, self.note, self.log = nn.Linear(3, 2), note, [0.0]
        self.seen: Tensor
        self.register_buffer("seen", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        self.note(self, x)
        return self.layer(x)


NOTES: dict[str, Callable[[Observer, Tensor], Any]] = {
    "buffer in place": lambda m, x: m.seen.add_(x.detach().sum(dim=0)),
    "another buffer": lambda m, x: setattr(m, "seen", m.seen + x.detach().sum(dim=0)),
    "attribute": lambda m, x: setattr(m, "last", x.detach()),
    "list": lambda m, x: m.log.append(float(x.sum())),
    "weights": lambda m, x: m.layer.weight.data.add_(x.mean()),
}


@pytest.mark.parametrize("name", NOTES)
def test_a_model_that_notes_what_it_saw_is_refused(name: str) -> None:
    model, data = Observer(NOTES[name]), PrivateTensors(torch.randn(20, 3), torch.randint(2, (20,)), AMPLE)
    before = {key: one.clone() for key, one in model.state_dict().items()}
    with pytest.raises(ParameterError, match=r"writes|depends"):
        Trainer(model, torch.optim.SGD(model.parameters()), crossed, data, STEP).run()
    assert data.ledger.balance().certified == 0
    assert all(torch.equal(one, before[key]) for key, one in model.state_dict().items())
    assert model.log == [0.0]
    assert not hasattr(model, "last")


def test_a_table_that_is_shortened_by_use_is_refused() -> None:
    model = nn.Sequential(nn.Embedding(5, 2, max_norm=0.1), nn.Flatten(), nn.Linear(2, 2))
    data = PrivateTensors(torch.zeros(4, 1, dtype=torch.int64), torch.zeros(4, dtype=torch.int64), AMPLE)
    with pytest.raises(ParameterError, match="max_norm=None"):
        Trainer(model, torch.optim.SGD(model.parameters()), crossed, data, STEP)


def test_what_only_some_records_write_is_put_back_after_the_step() -> None:
    def rarely(m: Observer, x: Tensor) -> None:
        if bool((x > 100).any()):
            m.seen.add_(1)
            m.seen = m.seen + x.sum()
            m.layer.bias.data.add_(5.0)
            m.last = x

    model, data = Observer(rarely), PrivateTensors(torch.full((20, 3), 1e3), torch.randint(2, (20,)), AMPLE)
    bias = model.layer.bias.detach().clone()
    Trainer(model, torch.optim.SGD(model.parameters(), lr=0.0), crossed, data, STEP, chunk=5).run()
    assert torch.equal(model.seen, torch.zeros(3))
    assert torch.equal(model.layer.bias, bias)
    assert not hasattr(model, "last")


def test_a_parameter_in_the_loss_alone_is_refused_and_one_outside_its_layer_is_announced() -> None:
    model = nn.Linear(3, 2)
    data = PrivateTensors(torch.randn(20, 3), torch.randint(2, (20,)), AMPLE)
    decayed = lambda given, wanted: crossed(given, wanted) + model.weight.square().sum()  # noqa: E731
    with pytest.raises(ParameterError, match="not in the loss"):
        Trainer(model, torch.optim.SGD(model.parameters()), decayed, data, STEP).run()
    reader = Reader(BROADCAST["functional"])
    words = PrivateTensors(torch.randint(WORDS, (20, PLACES)), torch.randint(2, (20,)), AMPLE)
    with pytest.warns(SlowLayers, match=r"places\.weight"):
        Trainer(reader, torch.optim.SGD(reader.parameters()), crossed, words, STEP).run()
    dropped = Reader(lambda m, x: functional.dropout(m.words(x) + m.places.weight[: x.shape[1]], 0.5))
    with pytest.raises(ParameterError, match="random draws"):
        Trainer(dropped, torch.optim.SGD(dropped.parameters()), crossed, words, STEP).run()


def test_a_rehearsal_looks_at_shapes_alone_and_leaves_everything_as_it_was() -> None:
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2))
    before = [one.detach().clone() for one in model.parameters()]
    state = torch.get_rng_state()
    seen: list[Tensor] = []

    def noted(given: Tensor, wanted: Tensor) -> Tensor:
        seen.append(wanted)
        return crossed(given, wanted)

    for records in (torch.full((9, 3), torch.nan), torch.zeros(0, 3)):
        found = rehearsed(model, noted, records, torch.full((len(records),), 12345))
        assert [(one.name, len(one.trained)) for one in found] == [("0", 2), ("2", 2)]
    assert {len(one) for one in seen} == {2, 3}
    assert max(int(one.max()) for one in seen) == 1
    assert all(torch.equal(one, was) for one, was in zip(model.parameters(), before, strict=True))
    assert all(one.requires_grad and one.grad is None for one in model.parameters())
    assert torch.equal(torch.get_rng_state(), state)


def test_a_table_of_one_row_and_views_and_dropout_are_rehearsed() -> None:
    single = nn.Sequential(nn.Embedding(1, 3), nn.Flatten(), nn.Linear(3, 2))
    rehearsed(single, crossed, torch.zeros(0, 1, dtype=torch.int64), torch.zeros(0, dtype=torch.int64))
    flips = AugmentationMultiplicity(
        lambda x: torch.where(torch.rand(len(x), 1) < 0.5, x, x.flip(1)) + torch.randn_like(x), 3
    )
    model = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.3), nn.GRU(4, 2, 2, dropout=0.2, batch_first=True))
    last = lambda given, wanted: crossed(given[0][:, -1], wanted)  # noqa: E731
    found = rehearsed(
        model, last, torch.zeros(0, 5, 3), torch.zeros(0, dtype=torch.int64), AugmentationMultiplicity(lambda x: x, 2)
    )
    assert [one.leads[0].each for one in found if one.leads] == [1, 1]
    rehearsed(nn.Linear(3, 2), crossed, torch.zeros(0, 3), torch.zeros(0, dtype=torch.int64), flips)
