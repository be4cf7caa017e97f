"""The memory that a training run takes, from its settings alone: before anything is allocated."""

from __future__ import annotations

import torch

from aleator.errors import TooBigError
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.decisions import Decisions
from aleator.learning.rebel.subgames import Subgames
from aleator.memory import available_memory

# numbers per row and hand that a search holds: regrets, policies, reach, sums, values, what is kept
_SEARCH_VECTORS = 14
_PARAMETER = 5 * 4  # bytes: itself, its gradient, two moments of Adam, its moving average
_ROW = 4 * 8  # bytes of a row's place in a forest


def kept_memory(config: RebelConfig, subgames: Subgames, decisions: Decisions | None) -> int:
    """Returns the bytes that a run holds all the time: networks with their optimisers, and replay buffers."""
    hands = subgames.shapes.num_hands
    values = _learner(config, subgames.encoding.size, hands, value_capacity(config), 4)
    if decisions is None:
        return values
    answers = len(decisions.names) * hands
    return values + _learner(config, decisions.encoding.size, answers, policy_capacity(config, subgames), 1)


def _learner(config: RebelConfig, inputs: int, outputs: int, capacity: int, bytes_of_target: int) -> int:
    """Returns the bytes of a network, its optimiser and its replay buffer, with a byte of mask per target."""
    parameters = inputs * config.width + (config.layers - 1) * config.width**2 + config.width * outputs
    return parameters * _PARAMETER + capacity * (4 * inputs + (bytes_of_target + 1) * outputs)


def value_capacity(config: RebelConfig) -> int:
    """Returns how many examples of values are kept: no more than the run makes, two of each search."""
    return min(config.replay, 2 * config.games * config.epochs)


def policy_capacity(config: RebelConfig, subgames: Subgames) -> int:
    """Returns how many examples of policies are kept: no more than the run makes, one of each decision of a subgame."""
    most = max(int((tree.actor >= 0).sum()) for tree in subgames.shapes.trees if tree)
    return min(config.replay, most * config.games * config.epochs)


def search_memory(config: RebelConfig, subgames: Subgames) -> int:
    """Returns the bytes that a search of all games takes at most, in the largest subgame so far; less on a CPU."""
    shapes = subgames.shapes
    rows = int(shapes.level_count.sum(dim=1).max()) * config.games
    return rows * (_SEARCH_VECTORS * shapes.num_hands + subgames.encoding.size) * shapes.matrices.element_size()


def check_memory(config: RebelConfig, subgames: Subgames, decisions: Decisions | None) -> None:
    """Raises TooBigError if the device has less free memory than a run takes at the least."""
    device = subgames.shapes.device
    free = torch.cuda.mem_get_info(device)[0] if device.type == "cuda" else available_memory()
    rows = int(subgames.shapes.level_count[0].sum()) * config.games  # all games begin at the root
    least = kept_memory(config, subgames, decisions) + rows * _ROW
    if least > free:
        raise TooBigError(
            f"training on {config.game} would take at least {least / 2**30:,.1f} GiB; {free / 2**30:,.1f} GiB are free "
            "(fewer games, a smaller replay or width need less)"
        )
