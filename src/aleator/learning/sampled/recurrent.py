"""A recurrent network of infostates: an LSTM over their sequences, attention, a value network.

Algorithm:
    Cell l of a sequence reads x_l, its symbol, and the cell before it:
        g^f, g^i, g^o = sigmoid(w [x_l, e_{l-1}]),  C_l = g^f C_{l-1} + g^i tanh(w_c [x_l, e_{l-1}]),
        e_l = g^o tanh(C_l).
    Each cell has an attention weight, alpha_l = ReLU(w_a e_l), and the attention embedding of a sequence is the sum
    over its cells of alpha_j e_j. The outputs are y = w_y ReLU(that), one for every action.

Reference: Double Neural CFR, "Recurrent Neural Network Representation", Eq. 8.
Deviations: the attention embedding is normalised to zero mean and unit variance before the last ReLU, and symbols are
    read with weights of about 1: fits get as low in a third of the steps. Gates, attention and outputs have biases;
    that of attention begins at 1, so that no sequence begins with weights of 0, where ReLU has no gradient. Sequences
    that begin alike share their cells (`sequences`).
Status: equal to a network that reads every sequence by itself, tests/learning/sampled/test_sequences.py.
"""

from __future__ import annotations

import torch
from torch import nn

from aleator.learning.sampled.sequences import Walk

Tensor = torch.Tensor


class SequenceNetwork(nn.Module):
    """From a walk to outputs [n, O]."""

    def __init__(self, symbols: int, outputs: int, width: int, generator: torch.Generator | None) -> None:
        """Draws the parameters, unless `generator` is None: then they are to be loaded."""
        super().__init__()
        self.width = width
        self.inputs = nn.Embedding(symbols, 4 * width)  # w x_l of the three gates and the candidate
        self.recurrent = nn.Linear(width, 4 * width)
        self.attention = nn.Linear(width, 1)
        self.output = nn.Linear(width, outputs)
        if generator is not None:
            with torch.no_grad():
                bound = width**-0.5
                for parameter in self.parameters():
                    parameter.uniform_(-bound, bound, generator=generator)
                self.inputs.weight.uniform_(-1.0, 1.0, generator=generator)
                self.attention.bias.fill_(1.0)

    def forward(self, walk: Walk) -> Tensor:
        """Returns [n, O]."""
        result: Tensor = self.output(self.features(walk))
        return result

    def features(self, walk: Walk) -> Tensor:
        """Returns [n, width]: what the last layer reads."""
        embeddings = []
        hidden = state = attended = self.output.weight.new_zeros((0, self.width))
        for number, level in enumerate(walk.levels):
            gates = self.inputs(level.symbols)
            if number:
                gates = gates + self.recurrent(hidden.index_select(0, level.parents))
                state, attended = (kept.index_select(0, level.parents) for kept in (state, attended))
            else:
                gates = gates + self.recurrent.bias
                state = attended = gates.new_zeros((len(gates), self.width))
            forget, enter, leave = torch.sigmoid(gates[:, : 3 * self.width]).chunk(3, dim=1)
            state = forget * state + enter * torch.tanh(gates[:, 3 * self.width :])
            hidden = leave * torch.tanh(state)
            attended = attended + torch.relu(self.attention(hidden)) * hidden
            embeddings.append(attended)
        attended = torch.cat(embeddings).index_select(0, walk.ends)
        return torch.relu(nn.functional.layer_norm(attended, attended.shape[1:]))
