"""ReBeL's training loop: self-play fills the replay buffers, the networks learn from them.

Algorithm:
    An epoch searches every game once with the networks' present parameters (or their moving average): the value network
    at the leaves, the policy network, if there is one, for the policies to start with. It takes training steps in
    proportion to the examples of the epochs before, and adds the new ones to the buffers. The loss of values is twice
    the pointwise Huber loss. Who searches is the run's `source`: this process, or workers.

Reference: ReBeL section 5.2, 5.3, 7 and App. G.

Deviations:
    On CUDA and with workers the training steps of an epoch run beside its searches.
    The moving average of parameters ("averaging") is not in the paper; the preset "paper" does without.

Status: tests/learning/rebel/test_training.py; results in `models/`.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any

import torch

from aleator.errors import SolveError
from aleator.games.base import Game
from aleator.games.registry import load_recorded_game
from aleator.learning.rebel.blocks import LocalBlocks, Networks, Source, new_networks
from aleator.learning.rebel.config import RebelConfig
from aleator.learning.rebel.decisions import Decisions
from aleator.learning.rebel.evaluation import Played, play_out
from aleator.learning.rebel.learner import Learner
from aleator.learning.rebel.memory import check_memory, policy_capacity, value_capacity
from aleator.learning.rebel.perfect_information import SearchedPositions, search_positions
from aleator.learning.rebel.replay import Replay
from aleator.learning.rebel.subgames import Subgames
from aleator.learning.value_network.networks import PolicyNetwork, ValueNetwork
from aleator.solvers.engines.batched.engine import BatchedValue
from aleator.solvers.engines.batched.warm_start import WarmStart
from aleator.solvers.engines.torch_threads import one_thread
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
        policy_loss: the same for the policy network, None if there is none.
        learning_rate: of the epoch.
        seconds: wall time of the run so far.
        searches_per_second: of this epoch, training included.
        work: of workers in this epoch, if there are some: how many ("workers"), how many died so far ("replaced"), the
            share of the time that they searched ("busy"), examples of each in a second, and by how many training steps
            the networks that searched were behind when their examples came ("staleness", "most_stale").
    """

    epoch: int
    searches: int
    examples: int
    steps: int
    loss: float | None
    learning_rate: float
    seconds: float
    searches_per_second: float
    policy_loss: float | None = None
    work: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON values, `work` as fields of its own."""
        fields = asdict(self)
        work = fields.pop("work")
        return {**fields, **work}


class Trainer:
    """A training run that can be stepped, asked, saved and resumed."""

    def __init__(
        self, config: RebelConfig, game: Game[Any] | None = None, *, device: torch.device | str = "cpu"
    ) -> None:
        """Begins a run.

        Args:
            config: its settings.
            game: a game of one's own, whose code is not run just because settings name it; None for one of this
                package.
            device: where it computes.
        """
        self.config, self.device = config, torch.device(device)
        if self.device.type == "cuda":
            from aleator.learning.value_network.triton_leaves import check_width

            check_width(config.width)
        self.game = load_recorded_game(config.game) if game is None else game
        self.subgames = Subgames(self.game, config.depth, encoding=config.encoding, device=device)
        encoding, hands = self.subgames.encoding, self.subgames.shapes.num_hands
        self._check_deals()
        self.decisions = Decisions(self.subgames, kind=config.encoding) if config.policy else None
        check_memory(config, self.subgames, self.decisions)
        values, policies = new_networks(config, self.subgames, self.decisions)
        self.generator = torch.Generator(device).manual_seed(config.seed)
        replay = Replay(value_capacity(config), encoding.size, hands, device=device)
        self.values = Learner(values, replay, config)
        self.policies = self._policy_learner(policies) if policies else None
        self.source: Source = LocalBlocks(config, self.subgames, self.decisions)
        self.epoch, self.steps, self.seconds = 0, 0, 0.0
        self.owed = 0.0  # training steps that are due
        self._graph: _StepGraph | None = None

    def _check_deals(self) -> None:
        """Raises SolveError if the network's form does not fit the deals that have been met."""
        if self.config.zero_sum and not self.subgames.encoding.independent:
            raise SolveError(f"zero_sum needs hands that are dealt independently; those of {self.config.game} are not")

    def begin_with(self, network: ValueNetwork, policy: PolicyNetwork | None = None) -> None:
        """Takes over the parameters of trained networks, before the first epoch: a run that refines them.

        Raises:
            SolveError: the run has begun, or its networks have other shapes.
        """
        if self.epoch:
            raise SolveError(f"a run takes over networks before its first epoch, not after {self.epoch}")
        given: list[ValueNetwork | PolicyNetwork | None] = [network, policy]
        for kind, learner, known in zip(("value", "policy"), self.learners, given, strict=False):
            if known is None:
                continue  # a policy network may begin anew beside a value network that does not
            parameters = known.state_dict()
            wanted = {name: list(value.shape) for name, value in learner.network.state_dict().items()}
            shapes = {name: list(value.shape) for name, value in parameters.items()}
            if wanted != shapes:
                odd = next(name for name in [*wanted, *shapes] if wanted.get(name) != shapes.get(name))
                raise SolveError(
                    f"the {kind} network to begin with has another form: {odd} is {shapes.get(odd, 'missing')}, and "
                    f"{wanted.get(odd, 'missing')} in this run; choose its game, layers, width and zero_sum"
                )
            learner.network.load_state_dict(parameters)
            learner.averaged.load_state_dict(parameters)

    def _policy_learner(self, network: PolicyNetwork) -> Learner[PolicyNetwork]:
        """Returns what trains a policy network."""
        assert self.decisions is not None
        decisions, hands = self.decisions, self.subgames.shapes.num_hands
        actions, size = len(decisions.names), decisions.encoding.size
        capacity = policy_capacity(self.config, self.subgames)
        replay = Replay(capacity, size, actions, hands, dtype=torch.uint8, device=self.device)
        return Learner(network, replay, self.config)

    @property
    def learners(self) -> list[Learner[Any]]:
        """All networks that are trained: of values, and of policies if there is one."""
        return [self.values, *([self.policies] if self.policies else [])]

    @property
    def network(self) -> ValueNetwork:
        """The value network that is trained."""
        return self.values.network

    @property
    def averaged(self) -> ValueNetwork:
        """The moving average of its parameters."""
        return self.values.averaged

    @property
    def replay(self) -> Replay:
        """The examples of values."""
        return self.values.replay

    @property
    def searcher(self) -> ValueNetwork:
        """The value network that searches use."""
        return self.values.searcher

    @property
    def done(self) -> bool:
        """Whether the run is over."""
        return self.epoch >= self.config.epochs

    def networks(self) -> Networks:
        """Returns the networks that search."""
        policies = self.policies.searcher if self.policies else None
        return Networks(self.config, self.subgames, self.decisions, self.searcher, policies)

    def leaf_values(self) -> BatchedValue:
        """Returns the network, as it is now, as a value function."""
        return self.networks().searchers().values

    def warm_start(self) -> WarmStart | None:
        """Returns the policy network, as it is now, as what searches start with; None if they start with nothing."""
        return self.networks().searchers().start

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
            self.source.start(self.networks(), self.steps)
            with torch.cuda.stream(side):
                losses = self._train()
            torch.cuda.current_stream().wait_stream(side)
        else:
            self.source.start(self.networks(), self.steps)
            losses = self._train()
        stints, before = self.source.collect(), self.replay.added
        self._check_deals()
        for stint in stints:
            for learner, made in zip(self.learners, stint.examples, strict=False):
                if made:
                    learner.replay.add(*made)
        self.epoch += 1
        made_now = self.replay.added - before
        self.owed += config.draws * made_now / config.batch
        if config.warm_up and self.epoch == max(1, round(config.warm_up * config.epochs)):
            for learner in self.learners:
                learner.replay.drop(0.5)
        spent = time.perf_counter() - begin
        self.seconds += spent
        return EpochMetrics(
            epoch=self.epoch,
            searches=self.epoch * config.games,
            examples=self.replay.added,
            steps=self.steps,
            loss=losses[0],
            policy_loss=losses[1] if self.policies else None,
            learning_rate=self.learning_rate(),
            seconds=self.seconds,
            searches_per_second=config.games / spent,
            work=self._work([self.steps - stint.steps for stint in stints], made_now / spent),
        )

    def _work(self, ages: list[int], examples: float) -> dict[str, float]:
        """Returns what there is to say about workers; see `EpochMetrics`."""
        if not (facts := self.source.facts()):
            return {}
        staleness = {"staleness": sum(ages) / len(ages), "most_stale": max(ages)}
        return {**facts, "examples_per_second_and_worker": examples / facts["workers"], **staleness}

    def run(self) -> Iterator[EpochMetrics]:
        """Runs what is left of the run, epoch by epoch."""
        while not self.done:
            yield self.run_epoch()

    def _train(self) -> list[float | None]:
        """Takes the training steps that are due and returns the mean loss of each network."""
        number, batch = int(self.owed) if self.replay.count else 0, self.config.batch
        if not number:
            return [None for _ in self.learners]
        self.owed -= number
        self.steps += number
        places = torch.stack(
            [learner.replay.places(number * batch, self.generator).view(number, batch) for learner in self.learners],
            dim=1,
        )
        for learner in self.learners:
            learner.set_rate(self.learning_rate())
        if self.device.type == "cuda":
            self._graph = self._graph or _StepGraph(self)
            return list(self._graph.run(places, self.source.tend))
        total = torch.zeros(len(self.learners), dtype=torch.float64)
        with one_thread():
            for step in places:
                total += self.train_step(step)
                self.source.tend()
        return list((total / number).tolist())

    def train_step(self, places: Tensor) -> Tensor:
        """Takes a training step of every network on the examples at its `places` [networks, batch]; returns losses."""
        return torch.stack([learner.step(at) for learner, at in zip(self.learners, places, strict=True)])

    def play(
        self,
        *,
        playthroughs: int,
        updates: int | None = None,
        seed: int = 0,
        chunk: int = 4096,
        on_progress: Callable[[int], None] | None = None,
    ) -> Played:
        """Returns how exploitable the policy is that searching with the network plays.

        Search by minimax always plays the same: then one playthrough says all, exactly.
        """
        if self.config.rule.minimax:
            return self.searched_positions().played()
        return play_out(
            build_tree(self.game),
            self.subgames,
            self.leaf_values(),
            self.config.rule,
            updates=updates or self.config.updates,
            playthroughs=playthroughs,
            generator=torch.Generator(self.device).manual_seed(seed),
            start=self.warm_start(),
            chunk=chunk,
            on_progress=on_progress,
        )

    def searched_positions(self) -> SearchedPositions:
        """Returns what searching by minimax with the network does at every position of the game."""
        return search_positions(self.subgames, self.leaf_values(), self.config.rule)


class _StepGraph:
    """A training step of all networks as a CUDA graph: one launch instead of hundreds."""

    def __init__(self, trainer: Trainer) -> None:
        learners = trainer.learners
        self._places = torch.zeros((len(learners), trainer.config.batch), dtype=torch.int64, device=trainer.device)
        self._loss = torch.zeros(len(learners), device=trainer.device)
        # a few steps outside the capture make the optimizers' state; what they changed is put back, in place
        networks = [network for learner in learners for network in (learner.network, learner.averaged)]
        before = copy.deepcopy([network.state_dict() for network in networks])
        # empty in a new run, not in one that is resumed
        moments = copy.deepcopy([learner.optimizer.state_dict()["state"] for learner in learners])
        for _ in range(3):
            trainer.train_step(self._places)
        for network, parameters in zip(networks, before, strict=True):
            network.load_state_dict(parameters)
        for learner, known in zip(learners, moments, strict=True):
            for number, state in enumerate(learner.optimizer.state.values()):
                for name, value in state.items():
                    value.copy_(known[number][name]) if number in known else value.zero_()
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._loss.add_(trainer.train_step(self._places))

    def run(self, places: Tensor, on_step: Callable[[], None]) -> list[float]:
        """Takes steps on `places` [steps, networks, batch]; returns the mean losses."""
        self._loss.zero_()
        for step in places:
            self._places.copy_(step)
            self._graph.replay()
            on_step()
        return list((self._loss / len(places)).tolist())
