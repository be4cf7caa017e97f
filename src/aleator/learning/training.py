"""ReBeL's training loop: self-play fills the replay buffer, the value network learns from it.

Algorithm:
    An epoch searches every game once with the network's present parameters (or their moving average) at the leaves, adds
    the examples to the buffer, and takes training steps in proportion. The loss is twice the pointwise Huber loss.

Reference: ReBeL section 5.2, 7 and App. G.

Deviations:
    On CUDA the training steps of an epoch run beside the next searches, on examples that came before.
    The moving average of parameters ("averaging") is not in the paper; the preset "paper" does without.

Status: tests/learning/test_training.py; results in `models/`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import torch
from torch import nn

from aleator.errors import SolveError
from aleator.games.registry import load_game
from aleator.learning.config import RebelConfig
from aleator.learning.encoding import Encoding
from aleator.learning.leaf_network import NetworkLeaves
from aleator.learning.networks import ValueNetwork
from aleator.learning.playing import Played, play_out
from aleator.learning.rebel import SelfPlay
from aleator.learning.replay import Replay
from aleator.learning.subgames import Subgames
from aleator.solvers.engines.torch.engine import LeafValues
from aleator.trees.public_tree import build_tree

Tensor = torch.Tensor


@dataclass(frozen=True, slots=True, kw_only=True)
class EpochMetrics:
    """What happened in an epoch.

    Attributes:
        epoch: from 1.
        searches: subgames searched so far.
        examples: training examples made so far.
        steps: training steps so far.
        loss: mean loss of the epoch's steps, None before the first.
        learning_rate: of the epoch.
        seconds: wall time of the run so far.
        searches_per_second: of this epoch, training included.
    """

    epoch: int
    searches: int
    examples: int
    steps: int
    loss: float | None
    learning_rate: float
    seconds: float
    searches_per_second: float

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON values."""
        return asdict(self)


def huber_loss(values: Tensor, targets: Tensor, mask: Tensor) -> Tensor:
    """Returns twice the mean pointwise Huber loss of values [n, H] over the hands in `mask` [n, H], which is 0 or 1."""
    huber = nn.functional.smooth_l1_loss(values, targets, reduction="none")
    return 2.0 * (huber * mask).sum() / mask.sum()


def leaf_values(network: ValueNetwork, encoding: Encoding, *, low_precision: bool = False) -> LeafValues:
    """Returns a value network as the value function of a search, by the fastest means its device has."""
    if encoding.features.is_cuda:
        from aleator.learning.fused_leaves import FusedLeaves

        return FusedLeaves(network, encoding)
    if encoding.features.dtype == torch.float32 and not low_precision:
        from aleator.learning.compiled_leaves import CompiledLeaves

        return CompiledLeaves(network, encoding)
    return NetworkLeaves(network, encoding, low_precision=low_precision)


class Trainer:
    """A training run that can be stepped, asked, saved and resumed."""

    def __init__(self, config: RebelConfig, *, device: torch.device | str = "cpu", low_precision: bool = False) -> None:
        self.config, self.device, self.low_precision = config, torch.device(device), low_precision
        self.game = load_game(config.game)
        self.subgames = Subgames(self.game, config.depth, device=device)
        shapes = self.subgames.shapes
        self.encoding = Encoding(self.game, self.subgames.roots, shapes.num_hands, kind=config.encoding, device=device)
        # a leaf is the root of the next subgame: one list of public states serves both
        leaves = [self.subgames.roots[number] for number in self.subgames.next.tolist()]
        self.leaf_encoding = self.encoding.of(leaves)
        # parameters are drawn on the CPU, so that they are the same on every device
        start = torch.Generator().manual_seed(config.seed)
        if config.zero_sum and not self.encoding.independent:
            raise SolveError(f"zero_sum needs hands that are dealt independently; those of {config.game} are not")
        self.network = ValueNetwork(
            self.encoding.size, shapes.num_hands, config.network, generator=start, first_flag=self.encoding.first_flag
        ).to(device)
        self.averaged = copy.deepcopy(self.network)
        self.generator = torch.Generator(device).manual_seed(config.seed)
        self.optimizer = torch.optim.Adam(
            self.network.parameters(),
            lr=torch.tensor(config.learning_rate, device=device)
            if self.device.type == "cuda"
            else config.learning_rate,
            capturable=self.device.type == "cuda",
            fused=self.device.type == "cuda",
        )
        self.replay = Replay(
            min(config.replay, 2 * config.games * config.epochs), self.encoding.size, shapes.num_hands, device=device
        )
        self.self_play = SelfPlay(
            self.subgames, self.encoding, config.rule, config.iterations, config.self_play, self.generator
        )
        self.epoch, self.steps, self.seconds = 0, 0, 0.0
        self.owed = 0.0  # training steps that are due
        self._graph: _StepGraph | None = None

    @property
    def searcher(self) -> ValueNetwork:
        """The network that searches use."""
        return self.averaged if self.config.averaging else self.network

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self.epoch >= self.config.epochs

    def leaf_values(self) -> LeafValues:
        """Returns the network, as it is now, as a value function."""
        return leaf_values(self.searcher, self.leaf_encoding, low_precision=self.low_precision)

    def learning_rate(self) -> float:
        """Returns the learning rate at this point of the run."""
        passed = sum(self.epoch >= share * self.config.epochs for share in self.config.halvings)
        return float(self.config.learning_rate * 0.5**passed)

    def run_epoch(self) -> EpochMetrics:
        """Searches every game once, and trains."""
        begin, config = time.perf_counter(), self.config
        if self.device.type == "cuda":
            side = torch.cuda.Stream(priority=-1)  # type: ignore[no-untyped-call]
            side.wait_stream(torch.cuda.current_stream())
            values = self.leaf_values()
            examples = self.self_play.play(values)  # only queued: the host does not wait for it
            with torch.cuda.stream(side):
                loss = self._train()
            torch.cuda.current_stream().wait_stream(side)
        else:
            examples = self.self_play.play(self.leaf_values())
            loss = self._train()
        self.replay.add(*examples)
        self.epoch += 1
        self.owed += config.draws * len(examples.inputs) / config.batch
        if self.epoch == max(1, round(config.warm_up * config.epochs)):
            self.replay.drop(0.5)
        spent = time.perf_counter() - begin
        self.seconds += spent
        return EpochMetrics(
            epoch=self.epoch,
            searches=self.epoch * config.games,
            examples=self.replay.added,
            steps=self.steps,
            loss=loss,
            learning_rate=self.learning_rate(),
            seconds=self.seconds,
            searches_per_second=config.games / spent,
        )

    def run(self) -> Iterator[EpochMetrics]:
        """Runs what is left of the run, epoch by epoch."""
        while not self.done:
            yield self.run_epoch()

    def _train(self) -> float | None:
        """Takes the training steps that are due and returns their mean loss."""
        number = int(self.owed) if self.replay.count else 0
        if not number:
            return None
        self.owed -= number
        self.steps += number
        places = self.replay.places(number * self.config.batch, self.generator).view(number, self.config.batch)
        if self.device.type == "cuda":
            self._graph = self._graph or _StepGraph(self)
            return self._graph.run(places, self.learning_rate())
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate()
        threads, total = torch.get_num_threads(), 0.0
        torch.set_num_threads(1)  # more of them wait for each other: steps are small
        try:
            for batch in places:
                total += float(self.train_step(batch))
        finally:
            torch.set_num_threads(threads)
        return total / number

    def train_step(self, places: Tensor) -> Tensor:
        """Takes one training step on the examples at `places` [batch] and returns the loss."""
        self.optimizer.zero_grad(set_to_none=False)
        found = self.network(self.replay.inputs[places])
        mask = self.replay.masks[places].to(found.dtype)
        loss = huber_loss(found, self.replay.targets[places], mask)
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), self.config.clip, foreach=True)
        self.optimizer.step()
        if self.config.averaging:
            with torch.no_grad():
                for mean, parameter in zip(self.averaged.parameters(), self.network.parameters(), strict=True):
                    mean.lerp_(parameter, 1.0 - self.config.averaging)
        return loss.detach()

    def play(
        self,
        *,
        playthroughs: int,
        iterations: int | None = None,
        seed: int = 0,
        chunk: int = 4096,
        on_progress: Callable[[int], None] | None = None,
    ) -> Played:
        """Returns how exploitable the policy is that searching with the network plays."""
        return play_out(
            build_tree(self.game),
            self.subgames,
            self.leaf_values(),
            self.config.rule,
            iterations=iterations or self.config.iterations,
            playthroughs=playthroughs,
            generator=torch.Generator(self.device).manual_seed(seed),
            chunk=chunk,
            on_progress=on_progress,
        )


class _StepGraph:
    """A training step as a CUDA graph: one launch instead of a hundred."""

    def __init__(self, trainer: Trainer) -> None:
        self._trainer = trainer
        self._places = torch.zeros(trainer.config.batch, dtype=torch.int64, device=trainer.device)
        self._loss = torch.zeros((), device=trainer.device)
        # a few steps outside the capture make the optimizer's state; what they changed is put back, in place
        networks, optimizer = (trainer.network, trainer.averaged), trainer.optimizer
        before = copy.deepcopy([network.state_dict() for network in networks])
        moments = copy.deepcopy(optimizer.state_dict()["state"])  # empty in a new run, not in one that is resumed
        for _ in range(3):
            trainer.train_step(self._places)
        for network, parameters in zip(networks, before, strict=True):
            network.load_state_dict(parameters)
        for number, state in enumerate(optimizer.state.values()):
            for name, value in state.items():
                value.copy_(moments[number][name]) if number in moments else value.zero_()
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._loss.add_(trainer.train_step(self._places))

    def run(self, places: Tensor, learning_rate: float) -> float:
        """Takes steps on `places` [steps, batch]; returns the mean loss."""
        for group in self._trainer.optimizer.param_groups:
            group["lr"].fill_(learning_rate)
        self._loss.zero_()
        for batch in places:
            self._places.copy_(batch)
            self._graph.replay()
        return float(self._loss) / len(places)
