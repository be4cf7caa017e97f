"""Chunks of examples of hold'em, each with random numbers of its own: this process makes them, or workers do."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt
import torch

from aleator.errors import SolveError
from aleator.games.holdem.cards import NUM_CARDS
from aleator.learning.holdem.examples import FIELDS, Examples, Labelling
from aleator.learning.holdem.network import HoldemValueNetwork, NetworkShape
from aleator.learning.holdem.networks import make_network
from aleator.learning.holdem.streets import STREETS
from aleator.learning.holdem.teaching import ExampleMaker
from aleator.learning.seeds import derived_seed
from aleator.solvers.engines.batched_holdem.deck import RIVER_CARDS, Deck
from aleator.workers.base import Crew

if TYPE_CHECKING:
    from aleator.learning.holdem.slices import SliceConfig


class Teacher(NamedTuple):
    """A network as it is sent to workers."""

    shape: NetworkShape
    num_cards: int
    parameters: dict[str, npt.NDArray[Any]]

    @classmethod
    def of(cls, network: HoldemValueNetwork) -> Teacher:
        """Returns a network to be sent."""
        parameters = {name: value.detach().cpu().numpy() for name, value in network.state_dict().items()}
        return cls(network.shape, network.num_cards, parameters)

    def network(self, device: torch.device | str) -> HoldemValueNetwork:
        """Returns the network on a device."""
        network = make_network(self.shape, self.num_cards)
        network.load_state_dict({name: torch.tensor(value) for name, value in self.parameters.items()})
        return network.to(device)


class Chunk(NamedTuple):
    """Some examples to be made.

    Attributes:
        examples: how many.
        labelling: how what is solved is solved.
        taught: whether the teacher prices what it can; otherwise it is solved.
        seed: from which all randomness follows.
    """

    examples: int
    labelling: Labelling
    taught: bool
    seed: int


class ChunkMaker:
    """Makes chunks.

    Args:
        config: the slice.
        teacher: the network of the street after, if it has one.
        device: where to compute.
        away: whether examples go to another process, as arrays.
    """

    def __init__(self, config: SliceConfig, teacher: Teacher | None, device: str, *, away: bool) -> None:
        self._config, self._device, self._away = config, device, away
        self._deck = Deck(range(NUM_CARDS - config.cards, NUM_CARDS), device=device)
        self._teacher = teacher.network(device) if teacher else None
        self._makers: dict[tuple[Labelling, bool], ExampleMaker] = {}

    def __call__(self, chunk: Chunk) -> Any:
        """Returns the examples of a chunk: `Examples`, or their fields as arrays."""
        examples = self._maker(chunk).make(chunk.examples, torch.Generator(self._device).manual_seed(chunk.seed))
        if self._away:
            return tuple(part.cpu().numpy() for part in examples)
        if self._device.startswith("cuda"):
            torch.cuda.synchronize()
        return examples

    def _maker(self, chunk: Chunk) -> ExampleMaker:
        config, key = self._config, (chunk.labelling, chunk.taught)
        if key not in self._makers:
            street, teacher = STREETS[config.network.street], self._teacher if chunk.taught else None
            self._makers[key] = ExampleMaker(
                street, self._deck, chunk.labelling, teacher, stacks=config.stacks, shared=config.shared
            )
        return self._makers[key]


def make_examples(
    crew: Crew,
    config: SliceConfig,
    whole: Chunk,
    device: torch.device,
    report: Callable[[float, str], None],
    until: float = float("inf"),
) -> Examples:
    """Returns new examples: so many, or what can be begun until that time, one chunk at least.

    Args:
        crew: of `ChunkMaker`s.
        config: the slice.
        whole: all of them as one chunk, which is split.
        device: where they are wanted.
        report: told how far it is.
        until: of the monotonic clock.
    """
    hands, count = config.live_cards * (config.live_cards - 1) // 2, whole.examples
    spread = hands if STREETS[config.network.street].board < RIVER_CARDS else 0
    made = Examples(
        torch.empty(count, FIELDS, hands, dtype=torch.float16, device=device),
        torch.empty(count, hands, dtype=torch.float16, device=device),
        torch.empty(count, spread, dtype=torch.float16, device=device),
        torch.empty(count, device=device),
    )
    begun = done = 0
    while True:
        while begun < count and crew.hungry and (begun == 0 or time.monotonic() < until):
            size = min(config.chunk, count - begun)
            crew.give(begun, whole._replace(examples=size, seed=_seed(whole.seed, begun // config.chunk)))
            begun += size
        if not crew.given:
            return made.take(slice(begun))
        for first, examples, _, _ in crew.take():
            last = first + len(examples[-1])
            for tensor, new in zip(made, examples, strict=True):
                tensor[first:last] = new if isinstance(new, torch.Tensor) else torch.tensor(new, device=device)
            if not bool(made.rows[first:last].isfinite().all()):
                raise SolveError(f"some of the examples {first:,} to {last:,} are not numbers: their teacher is broken")
            done += last - first
            died = f", {crew.replaced:,} workers died and were replaced" if crew.replaced else ""
            report(done / count, f"{done:,} of {count:,} examples{died}")


def _seed(seed: int, chunk: int) -> int:
    """Returns the seed of a chunk; the first one has that of the whole."""
    return seed if chunk == 0 else derived_seed(seed, chunk)
