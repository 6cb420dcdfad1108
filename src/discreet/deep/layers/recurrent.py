"""Recurrent layers: a linear cell that is called again at every time."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from discreet.core.errors import ParameterError
from discreet.deep.layers.composite import LayerParts, composite

State = tuple[Tensor, ...]
"""Of one direction of one layer: what it gives, and for an LSTM its memory."""

Cell = Callable[[Tensor, Tensor, State], State]
"""Both linear parts and the state before; gives the state after."""


def _simple(activation: Callable[[Tensor], Tensor], given: Tensor, before: Tensor, _: State) -> State:
    return (activation(given + before),)


def _lstm(given: Tensor, before: Tensor, state: State) -> State:
    enter, keep, new, out = (given + before).chunk(4, dim=-1)
    memory = torch.sigmoid(keep) * state[1] + torch.sigmoid(enter) * torch.tanh(new)
    return torch.sigmoid(out) * torch.tanh(memory), memory


def _gru(given: Tensor, before: Tensor, state: State) -> State:
    (reset, keep, new), (reset_of, keep_of, new_of) = given.chunk(3, dim=-1), before.chunk(3, dim=-1)
    kept = torch.sigmoid(keep + keep_of)
    fresh = torch.tanh(new + torch.sigmoid(reset + reset_of) * new_of)
    return ((1 - kept) * fresh + kept * state[0],)


def _cell(module: nn.RNNBase | nn.RNNCellBase) -> Cell:
    if isinstance(module, nn.LSTM | nn.LSTMCell):
        return _lstm
    if isinstance(module, nn.GRU | nn.GRUCell):
        return _gru
    return partial(_simple, getattr(torch, str(module.nonlinearity)))


@composite(nn.RNNCell, nn.LSTMCell, nn.GRUCell)
def cell(
    module: nn.RNNCell | nn.LSTMCell | nn.GRUCell, parts: LayerParts, inputs: Tensor, state: Any = None
) -> Tensor | tuple[Tensor, ...]:
    """One time."""
    two = isinstance(module, nn.LSTMCell)
    if state is None:
        state = tuple(inputs.new_zeros(len(inputs), module.hidden_size) for _ in range(1 + two))
    before = state if two else (state,) if isinstance(state, Tensor) else state
    bias = ("bias_ih", "bias_hh") if module.bias else (None, None)
    given = parts.linear(inputs, "weight_ih", bias[0])
    after = _cell(module)(given, parts.linear(before[0], "weight_hh", bias[1]), before)
    return after if two else after[0]


@composite(nn.RNN, nn.LSTM, nn.GRU)
def recurrent(
    module: nn.RNN | nn.LSTM | nn.GRU, parts: LayerParts, inputs: Tensor, states: Any = None
) -> tuple[Tensor, Tensor | tuple[Tensor, ...]]:
    """Layers one above another, each over all times, in one direction or both: samples along the first axis."""
    if not isinstance(inputs, Tensor) or inputs.dim() != 3:
        obstacle = f"a {type(module).__name__} was called with what is no tensor of shape (samples, times, features)"
        raise ParameterError("train with privacy", obstacle, "Fill sequences up to one length, and do not pack them.")
    two, directions = isinstance(module, nn.LSTM), 1 + module.bidirectional
    if states is None:
        wide = [module.proj_size or module.hidden_size, module.hidden_size]
        count = directions * module.num_layers
        states = tuple(inputs.new_zeros(count, len(inputs), width) for width in wide[: 1 + two])
    before = states if two else (states,) if isinstance(states, Tensor) else states
    last: list[State] = []
    for layer in range(module.num_layers):
        both = []
        for direction in range(directions):
            place = directions * layer + direction
            suffix = f"_l{layer}" + "_reverse" * direction
            found = _over_time(module, parts, inputs, tuple(one[place] for one in before), suffix)
            both.append(found[0])
            last.append(found[1])
        inputs = torch.cat(both, dim=-1)
        if module.dropout and layer < module.num_layers - 1:
            inputs = functional.dropout(inputs, module.dropout, module.training)
    ends = tuple(torch.stack(one) for one in zip(*last, strict=True))
    return inputs, ends if two else ends[0]


def _over_time(
    module: nn.RNN | nn.LSTM | nn.GRU, parts: LayerParts, inputs: Tensor, state: State, suffix: str
) -> tuple[Tensor, State]:
    """What one direction of one layer gives at all times, and its last state."""
    bias = (f"bias_ih{suffix}", f"bias_hh{suffix}") if module.bias else (None, None)
    given = parts.linear(inputs, f"weight_ih{suffix}", bias[0])
    backwards, step = suffix.endswith("_reverse"), _cell(module)
    found: list[Tensor] = []
    for now in reversed(given.unbind(dim=1)) if backwards else given.unbind(dim=1):
        state = step(now, parts.linear(state[0], f"weight_hh{suffix}", bias[1]), state)
        if module.proj_size:
            state = parts.linear(state[0], f"weight_hr{suffix}"), *state[1:]
        found.append(state[0])
    return torch.stack(found[::-1] if backwards else found, dim=1), state
