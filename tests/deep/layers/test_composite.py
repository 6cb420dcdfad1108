"""Recurrent layers and attention: what they compute, and their clipped sums, of any shape."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from discreet.core.errors import ParameterError
from discreet.deep.checks.check import check
from discreet.deep.clipping.clipped_sum import clipped_sum
from tests.deep.clipping.test_clipped_sum import Tied, squares
from tests.deep.layers.trial import agrees

FEW = settings(max_examples=12)
SIZES = st.integers(1, 5)


class Reader(nn.Module):
    """A recurrent layer whose sequence and last states all count, from a state that is not zero."""

    def __init__(self, recurrent: nn.RNNBase) -> None:
        super().__init__()
        self.recurrent = recurrent

    def forward(self, x: Tensor) -> Tensor:
        states = self.recurrent(x)[1]
        out, last = self.recurrent(x.flip(1), states)  # a second use of the same cells
        ends = [last] if isinstance(last, Tensor) else list(last)
        return torch.cat([out.flatten(1), *(end.transpose(0, 1).flatten(1) for end in ends)], dim=1)


@pytest.mark.filterwarnings("ignore:LSTM with projections")  # PyTorch computes them, more slowly
@FEW
@given(
    st.sampled_from([nn.RNN, nn.LSTM, nn.GRU]),
    *[SIZES] * 4,
    st.integers(1, 2),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
def test_recurrent_layers(
    kind: Any, samples: int, times: int, d: int, wide: int, deep: int, both: bool, bias: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    more: dict[str, Any] = {"proj_size": wide} if kind is nn.LSTM and seed % 2 else {}
    more |= {"nonlinearity": "relu"} if kind is nn.RNN and seed % 2 else {}
    layer = kind(d, wide + 1, deep, batch_first=True, bidirectional=both, bias=bias, **more)
    agrees(Reader(layer), torch.randn(samples, times, d))


class Loop(nn.Module):
    """A cell that is called again and again, with a head."""

    def __init__(self, cell: nn.RNNCellBase) -> None:
        super().__init__()
        self.cell, self.head = cell, nn.Linear(cell.hidden_size, 2)

    def forward(self, x: Tensor) -> Tensor:
        state = None
        for now in x.unbind(dim=1):
            state = self.cell(now, state)
        assert state is not None
        return self.head(state if isinstance(state, Tensor) else state[0])


def test_some_parameters_frozen() -> None:
    torch.manual_seed(0)
    for model in (
        Reader(nn.LSTM(2, 3, batch_first=True)),
        Asking(nn.MultiheadAttention(4, 2, batch_first=True), "self", False),
    ):
        for one in list(model.parameters())[::2]:
            one.requires_grad_(False)
        agrees(model, torch.randn(5, 3, 2 if isinstance(model, Reader) else 4))


@FEW
@given(*[SIZES] * 4, st.booleans(), st.integers(0, 99))
def test_tied_tables_trained_in_both_uses_or_in_neither(
    samples: int, places: int, rows: int, wide: int, frozen: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    model = Tied(rows, wide)
    model.words.weight.requires_grad_(not frozen)
    model.first.bias.requires_grad_(frozen)
    agrees(model, torch.randint(0, rows, (samples, places)))


def test_cells() -> None:
    for kind in (nn.RNNCell, nn.LSTMCell, nn.GRUCell):
        torch.manual_seed(0)
        agrees(Loop(kind(3, 4)), torch.randn(5, 3, 3))


class Asking(nn.Module):
    """Attention to itself, to something else, or to keys that are not the values."""

    def __init__(self, layer: nn.MultiheadAttention, form: str, causal: bool) -> None:
        super().__init__()
        self.layer, self.form, self.causal = layer, form, causal
        self.key, self.value = nn.Linear(layer.embed_dim, layer.kdim), nn.Linear(layer.embed_dim, layer.vdim)

    def forward(self, x: Tensor) -> Tensor:
        places, more = x.shape[1], {}
        key, value = {"self": (x, x), "other": (self.key(x),) * 2, "apart": (self.key(x), self.value(x))}[self.form]
        if self.causal:
            more["attn_mask"] = torch.triu(torch.ones(places, places, dtype=torch.bool), diagonal=1)
            padded = torch.zeros(len(x), places, dtype=torch.bool)
            padded[:, 1:] = x[:, 1:, 0] > 1
            more["key_padding_mask"] = padded
        out, weights = self.layer(x, key, value, need_weights=self.causal, **more)
        return out if weights is None else torch.cat([out, weights], dim=2)


@FEW
@given(
    st.sampled_from(["self", "other", "apart", "sizes"]), *[SIZES] * 4, st.booleans(), st.booleans(), st.integers(0, 99)
)
def test_attention(
    form: str, samples: int, places: int, heads: int, wide: int, bias: bool, causal: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    more: dict[str, Any] = {"kdim": wide + 1, "vdim": wide + 2} if form == "sizes" else {}
    more |= {"add_bias_kv": bool(seed % 2), "add_zero_attn": bool(seed % 3)}
    layer = nn.MultiheadAttention(heads * wide, heads, bias=bias, batch_first=True, **more)
    agrees(Asking(layer, "apart" if form == "sizes" else form, causal), torch.randn(samples, places, heads * wide))


def test_a_transformer_is_all_rules_even_where_pytorch_would_go_past_its_layers() -> None:
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0, batch_first=True)
    for model in (layer, layer.eval()):
        assert check(model).one_by_one == ()
        agrees(model, torch.randn(5, 3, 4))


def test_dropout_inside_is_drawn_once_and_belongs_to_the_slopes() -> None:
    """One sample at one time: PyTorch's own layers draw the same numbers in the same order."""
    torch.manual_seed(0)
    attention = Asking(nn.MultiheadAttention(8, 8, dropout=0.5, batch_first=True), "self", causal=True)
    for model, x in ((Reader(nn.GRU(2, 8, 2, dropout=0.5, batch_first=True)), torch.randn(1, 1, 2)),
                     (attention, torch.randn(1, 1, 8))):  # fmt: skip
        assert check(model).one_by_one == ()
        targets = torch.randn_like(model(x)).detach()
        for seed in range(5):
            torch.manual_seed(seed)
            wanted = torch.autograd.grad(squares(model(x), targets).sum(), list(model.parameters()), allow_unused=True)
            torch.manual_seed(seed)
            found = clipped_sum(model, squares, x, targets, clip=1e9).gradients
            for one, want in zip(found.values(), wanted, strict=True):
                wish = torch.zeros_like(one) if want is None else want
                torch.testing.assert_close(one, wish, rtol=1e-4, atol=1e-5, check_dtype=False)


def test_packed_sequences_are_refused() -> None:
    class Packing(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.GRU(2, 3, batch_first=True)

        def forward(self, x: Tensor) -> Tensor:
            packed = nn.utils.rnn.pack_padded_sequence(x, [2] * len(x), batch_first=True)
            return self.layer(packed)[1][0]

    with pytest.raises(ParameterError, match="do not pack"):
        clipped_sum(Packing(), squares, torch.randn(2, 3, 2), torch.zeros(2, 3))
