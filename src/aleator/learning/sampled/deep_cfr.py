"""Deep CFR and SD-CFR: counterfactual regret minimisation with networks in place of tables.

Algorithm:
    In iteration t, for each player i in turn: K traversals by external sampling, in which players match the regrets
    that their networks V predict; what they sample goes to memories. The traverser's regrets r(I, .) go to its memory
    with weight t, the opponent's policies to the memory of policies. Then V_i is fitted to its memory:
    weighted by t, the mean of all sampled regrets is proportional to the regret of linear CFR. Where no predicted
    regret is positive the action with the highest one is played. The average policy is what converges. Deep CFR fits
    a network to the memory of policies at the end; SD-CFR keeps all networks V and draws one of them for every game.

Reference: thesis 4.1, Algorithms 1 and 2; Fig. 4.3 and 4.4 for the settings that leave something out (`linear`,
    `from_scratch`, `best_action`, `reservoir`); Steinberger 2019 (SD-CFR).

Deviations:
    Fits go on from the last parameters unless `from_scratch` is set: they look at the whole memory in every step if
    `batch` is 0 (`fitting`), and then a few steps do what hundreds from scratch do, so that there are more
    iterations in the same time. In the average policy iteration t has weight t^(1/2) and not t (`policy_power`):
    with as few traversals as here late policies are noisy, and tables in place of networks end lower so. An
    iteration updates both players. Before their first fit players act uniformly; V = 0 would have them take the
    first action. The mixture of SD-CFR leaves that uniform policy out. With samples of other schemes than external
    sampling, weights are t x those of `traversal`.

Status: tests/learning/sampled/test_deep_cfr.py; numbers by `aleator paper deep-cfr-leduc`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import torch

from aleator.errors import SolveError, check_known, shown
from aleator.games.base import Game
from aleator.learning.run_files import without_prefix
from aleator.learning.sampled.board_asks import Ask, ask_network, ask_policies, remembered
from aleator.learning.sampled.board_mixture import BoardMixture
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.board_walk import BoardWalk, Cards, Dealt, PlayerPolicy
from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.fitting import fit_network, probabilities
from aleator.learning.sampled.memory import Ledger, Memory
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import NetworkRunConfig, NetworkTrainer, open_game
from aleator.learning.sampled.play import SampledGame, TreePlay
from aleator.learning.sampled.trainer import (
    BothPolicies,
    Mixture,
    NetworkPolicies,
    as_vectors,
    parameters,
    policy_on_tree,
)
from aleator.learning.sampled.traversal import (
    TraversalBlock,
    Traversals,
    join_samples,
    join_traversals,
    match_regrets,
    parse_sampling,
    traverse,
    traverse_block,
)
from aleator.learning.seeds import new_generator
from aleator.learning.settings import check_at_least, check_not_negative
from aleator.solvers.algorithms import parse_rule
from aleator.solvers.regret_rule import HEDGE, RegretRule
from aleator.trees.policy import Policy

Tensor = torch.Tensor
NETWORK, MIXTURE = "network", "mixture"
AVERAGES = (NETWORK, MIXTURE)
_AVERAGE_FIT, _CARDS = 1, 2  # what random numbers are drawn for: fits of the average policy, and cards


class Matching(NamedTuple):
    """What networks of regrets say, and the policies that follow from it.

    Attributes:
        best: where no regret is positive the best action is played; otherwise all alike.
        squash: networks say asinh(regret / squash); regrets as they are if it is 0.
        power: policies are proportional to positive regrets to this power.
    """

    best: bool
    squash: float = 0.0
    power: float = 1.0

    def squashed(self, regrets: Tensor) -> Tensor:
        """Returns what a network says of regrets."""
        return torch.asinh(regrets / self.squash) if self.squash else regrets

    def policy(self, outputs: Tensor, legal: Tensor) -> Tensor:
        """Returns policies [n, A] from what a network says and legal actions [n, A]."""
        regrets = torch.sinh(outputs) if self.squash else outputs
        if self.power != 1.0:
            regrets = regrets.sign() * regrets.abs() ** self.power
        return match_regrets(regrets, legal, best=self.best)


@dataclass(frozen=True, slots=True, kw_only=True)
class DeepCfrConfig(NetworkRunConfig):
    """A run of Deep CFR; see `NetworkRunConfig` for what NFSP has, too.

    Attributes:
        traversals: K, of each player in an iteration.
        blocks: parts of these traversals that workers can make beside each other; with several each part has random
            numbers of its own.
        sampling: external, robustK or outcome[,epsilon=E].
        flops: of an iteration and player, if all hands are traversed at once (public chance sampling, flop hold'em
            only); 0 for single deals.
        samples: that each memory gets of such an iteration.
        cards: pairs of a flop and a hand that are drawn once (flop hold'em only). If not 0, all flops are walked, and
            at all decisions with these cards regrets and policies are summed up exactly, in place of memories.
        rule: how regrets are summed up at such cards and matched, and how policies are averaged: a regret rule, as
            sharp-dcfr+, in place of `linear` and `policy_power`. Empty: these two decide.
        squash: networks of regrets say asinh(regret / (squash x their root mean square)), which tells small regrets
            apart, between which a player mixes, beside large ones; 0: regrets as they are. Takes cards: what is
            squashed must have no noise.
        strength: networks are told how many hands a hand beats on its flop, besides the cards (flop hold'em only).
        average: network (Deep CFR: a network of the average policy) or mixture (SD-CFR: all networks of regrets).
        linear: iteration t counts t times as much in regrets (linear CFR); otherwise all alike.
        policy_power: iteration t counts t^power as much in the average policy.
        from_scratch: networks are fitted from random parameters; otherwise from those of the last iteration.
        best_action: where no regret is positive the best action is played; otherwise all alike.
        reservoir: memories are reservoirs; otherwise sliding windows.
        memory: samples that each memory holds.
    """

    traversals: int = 250
    blocks: int = 1
    sampling: str = "external"
    flops: int = 0
    samples: int = 1_000_000
    cards: int = 0
    rule: str = ""
    squash: float = 0.0
    strength: bool = False
    average: str = NETWORK
    linear: bool = True
    policy_power: float = 0.5
    from_scratch: bool = False
    best_action: bool = True
    reservoir: bool = True

    def __post_init__(self) -> None:
        NetworkRunConfig.__post_init__(self)
        parse_sampling(self.sampling)
        check_known(self.average, AVERAGES, "average")
        check_at_least(self, 1, "traversals", "samples")
        check_at_least(self, 0, "flops", "cards")
        if self.flops and self.cards:
            raise SolveError("flops draws samples for memories, cards are summed up without them: one of them is 0")
        check_not_negative(self, "squash")
        if self.squash and not self.cards:
            raise SolveError(f"squash={self.squash:g} takes regrets without noise, as cards sums them up")
        self._check_rule()
        if not 1 <= self.blocks <= self.traversals:
            raise SolveError(f"blocks must be at least 1 and at most {self.traversals:,}, not {shown(self.blocks)}")
        check_not_negative(self, "policy_power")

    def _check_rule(self) -> None:
        rule = self.regret_rule
        if rule is None:
            return
        if not self.cards:
            raise SolveError(f"rule={self.rule} discounts sums of regrets, as cards has them; memories have none")
        if rule.optimistic or rule.minimiser == HEDGE or rule.restart or rule.gamma_slope or not rule.alternating:
            raise SolveError(
                f"rule={self.rule} does not work with networks: a rule cannot be optimistic, simultaneous or Hedge, "
                f"nor have an average that restarts or whose exponent changes"
            )

    @property
    def regret_rule(self) -> RegretRule | None:
        """How sums of regrets are discounted; None if iterations have weights instead."""
        return parse_rule(self.rule) if self.rule else None

    @property
    def matching(self) -> Matching:
        """What networks of regrets say."""
        rule = self.regret_rule
        return Matching(self.best_action, self.squash, 1.0 if rule is None else rule.power)

    def weights(self, iteration: int) -> tuple[float, float]:
        """Returns how much an iteration counts in regrets, before discounts, and in the average policy."""
        rule, t = self.regret_rule, float(iteration)
        if rule is not None:
            return 1.0, t**rule.gamma
        return t if self.linear else 1.0, t**self.policy_power


PRESETS: dict[str, dict[str, Any]] = {
    # small games on a CPU: 1e7 nodes on Leduc
    "small": {},
    # what the thesis says about flop hold'em (4.1.2, Fig. 4.2)
    "paper": {
        "iterations": 450, "traversals": 10_000, "policy_power": 1.0, "from_scratch": True, "memory": 40_000_000,
        "width": 64, "flat": False, "steps": 4000, "policy_steps": 4000, "batch": 10_000, "learning_rate": 1e-3,
        "clip": 1.0,
    },
    # the same for minutes on a GPU: exact regrets with some of all cards, and fits that go on from the last parameters
    "fhp": {
        "iterations": 40, "cards": 300_000, "rule": "sharp-dcfr+", "squash": 0.05, "strength": True, "flat": False,
        "width": 128, "steps": 1000, "policy_steps": 10_000, "batch": 32_768, "learning_rate": 3e-3,
    },
    "demo": {
        "iterations": 40, "traversals": 500, "from_scratch": True, "width": 32, "steps": 40, "policy_steps": 200,
        "learning_rate": 1e-2,
    },
}  # fmt: skip


class DeepCFR(NetworkTrainer):
    """A run of Deep CFR or SD-CFR.

    Attributes:
        networks: of regrets, one per player; None before its first fit.
        memories: of regrets, one per player.
        policy_memory: of policies.
        mixture: of all networks' policies, whichever average is asked for: it costs nothing. None in flop hold'em,
            which has too many infostates.
        board_mixture: the same in flop hold'em, where it takes gigabytes: if it is asked for, or regrets are summed up
            with some cards.
        traverse_by_workers: makes blocks of traversals with the networks as they are, and tells who worked; None if
            nobody else works.
    """

    kind, title = "deep-cfr", "Deep CFR"
    config: DeepCfrConfig

    def __init__(
        self, config: DeepCfrConfig, game: Game[Any] | None = None, *, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(config, game, device)
        self._check_memory(samples=0 if config.cards else 3 * config.memory, width=config.width, flat=config.flat)
        self.walk = BoardWalk(self.play) if isinstance(self.play, BoardPlay) else None
        if self.walk is None and (config.flops or config.cards or config.strength):
            raise SolveError(f"flops, cards and strength are of flop-holdem, not of {config.game}")
        if self.walk is not None and ((config.average == MIXTURE and config.flat) or not config.batch):
            raise SolveError(
                f"{config.game} has too many infostates for average={config.average}, flat={config.flat}, "
                f"batch={config.batch}: it needs batches, and mixtures need flat=false, as --preset fhp has them"
            )
        self._cards: Cards | None = None
        if self.walk is not None and config.cards:
            self._cards = self.walk.draw_cards(config.cards, new_generator(self.device, config.seed, _CARDS))
        self.networks: list[InfostateNetwork | None] = [None, None]
        rule = config.regret_rule
        self.memories, self.policy_memory = (self._new_memory(rule), self._new_memory(rule)), self._new_memory(None)
        self.mixture = Mixture(self.play) if isinstance(self.play, TreePlay) else None
        mixes = self.walk is not None and (config.average == MIXTURE or config.cards)
        self.board_mixture = BoardMixture(self.walk) if self.walk is not None and mixes else None
        self.traverse_by_workers: Callable[[list[TraversalBlock]], tuple[Traversals, dict[str, float]]] | None = None
        self._mixed: tuple[list[Tensor], list[Tensor]] = ([], [])
        self._asks: list[Ask | None] = [None, None]  # of each player, until its network changes
        self._rule = parse_sampling(config.sampling)

    def _open(self, device: torch.device | str) -> tuple[SampledGame, Encoding]:
        return open_game(self.game, device, strength=self.config.strength)

    def _new_memory(self, rule: RegretRule | None) -> Memory | Ledger:
        config = self.config
        if config.cards:
            return Ledger(rule, self.device)
        return Memory(config.memory, self.play.num_actions, reservoir=config.reservoir, device=self.device)

    def _ask(self, player: int) -> Ask:
        """Returns what a player does now, as walks over flops ask it."""
        assert isinstance(self.play, BoardPlay)
        network, known = self.networks[player], self._asks[player]
        if known is None:
            if network is None or network.flat:
                ask = ask_policies(self.play, self._policies(player))
            else:
                ask = self._ask_network(network)
            known = self._asks[player] = remembered(ask) if self.config.cards else ask
        return known

    def _ask_network(self, network: InfostateNetwork) -> Ask:
        assert isinstance(self.play, BoardPlay) and isinstance(self.encoding, BoardEncoding)
        return ask_network(self.play, self.encoding, network, self.config.matching.policy)

    def _policies(self, player: int) -> NetworkPolicies:
        """Returns what a player does now."""
        return regret_policies(self.play, self.networks[player], self.encoding, self.config.matching)

    def _run_epoch(self) -> dict[str, Any]:
        """Runs one iteration: traversals and a fit for each player."""
        config, t = self.config, self.epoch + 1
        weight, policy_weight = config.weights(t)
        losses, met = [], []
        for player in (0, 1):
            both = BothPolicies(self.play, (self._policies(0), self._policies(1)))
            sampled, work = self._sample(both, player)
            self.nodes += sampled.touched
            self.memories[player].add(sampled.regrets, weight, self.generator)
            met.append(sampled.policies)
            self._mix(both, 1 - player, policy_weight)
            losses.append(self._fit_regrets(player))
        if config.average == NETWORK:
            self.policy_memory.add(join_samples(met), policy_weight, self.generator)
        samples = sum(memory.added for memory in self.memories)
        return {"traversals": 2 * t * config.traversals, "samples": samples, "loss": sum(losses) / 2, **work}

    def _sample(self, both: BothPolicies, player: int) -> tuple[Traversals, dict[str, float]]:
        """Returns what the traversals of a player find in this iteration, and who worked, if not this process."""
        config, t = self.config, self.epoch + 1
        if self.walk is not None and self._cards is not None:
            return self.walk.traverse_all((self._ask(0), self._ask(1)), player, self._cards), {}
        if self.walk is not None and config.flops:
            flops = self.walk.draw_flops(config.flops, self.generator)
            asks = self._ask(0), self._ask(1)
            return self.walk.traverse(asks, player, flops, config.samples, self.generator), {}
        if config.blocks == 1:
            return traverse(self.play, both, player, config.traversals, self._rule, self.generator), {}
        sizes = [len(part) for part in np.array_split(np.empty(config.traversals), config.blocks)]
        blocks = [TraversalBlock(player, size, t, block, config.seed) for block, size in enumerate(sizes)]
        if self.traverse_by_workers is not None:
            return self.traverse_by_workers(blocks)
        return join_traversals([traverse_block(self.play, both, block, self._rule) for block in blocks]), {}

    def _fit_regrets(self, player: int) -> float:
        """Fits the network of a player's regrets and returns the loss."""
        config, network = self.config, self.networks[player]
        if network is None or config.from_scratch:
            # parameters are drawn on the CPU, so that they are the same on every device
            start = torch.randint(2**62, (1,), generator=self.generator, device=self.device)
            generator = torch.Generator().manual_seed(int(start))
            network = self._new_network(generator)
        self.networks[player] = network
        self._asks[player] = None
        fit, squashed = config.fit(config.steps), config.matching.squashed
        memory = self.memories[player]
        return fit_network(network, self.play, self.encoding, memory, fit, self.generator, squashed=squashed)

    def _mix(self, both: BothPolicies, player: int, weight: float) -> None:
        """Adds what a player does now to the mixture."""
        network = self.networks[player]
        if network is not None and self.mixture is not None:
            assert isinstance(self.play, TreePlay)
            self.mixture.add(policy_on_tree(self.play, both), player, weight)
        if network is not None and self.board_mixture is not None:
            self.board_mixture.add(self._ask(player), player, weight)
        if network is not None and (self.config.average == MIXTURE or self.board_mixture is not None):
            self._mixed[player].append(torch.cat([torch.tensor([weight]), parameters(network).cpu()]))

    def average_policy(self) -> Policy:
        """Returns the average policy: the mixture, or what a network fitted to the memory of policies says."""
        if self.config.average == MIXTURE:
            return self.mixture_policy()
        return self.network_policy()

    def exploitability(self, stopped: Callable[[], bool] = lambda: False) -> float | None:
        """Returns the exact exploitability of the average policy, in flop hold'em over all flops."""
        if self.board_mixture is not None and self.config.average == MIXTURE:
            return self.board_mixture.exploitability(stopped)
        if self.walk is not None and not self.config.flat:
            return None if stopped() else self._walked_exploitability(self._average_network(), stopped)
        return super().exploitability(stopped)

    def _walked_exploitability(self, network: InfostateNetwork, stopped: Callable[[], bool]) -> float | None:
        """Returns the exact exploitability of a network of the average policy over all flops."""
        assert self.walk is not None and isinstance(self.play, BoardPlay) and isinstance(self.encoding, BoardEncoding)
        walk, ask = self.walk, ask_network(self.play, self.encoding, network, probabilities)
        early = [walk.ask_early(ask, player) for player in (0, 1)]

        def policies(dealt: Dealt) -> list[PlayerPolicy]:
            return [PlayerPolicy(early[player], walk.ask_late(ask, player, dealt)) for player in (0, 1)]

        return walk.exploitability(policies, stopped)

    def mixture_policy(self) -> Policy:
        """Returns the mixture of all networks' policies."""
        if self.mixture is None:
            raise SolveError(f"{self.config.game} has too many infostates to mix policies")
        return self.mixture.policy()

    def _average_network(self) -> InfostateNetwork:
        """Returns a network fitted to the memory of policies; the same whenever it is asked for after an iteration."""
        config = self.config
        generator = new_generator(torch.device("cpu"), config.seed, self.epoch, _AVERAGE_FIT)
        network = self._new_network(generator)
        draws = new_generator(self.device, config.seed, self.epoch, _AVERAGE_FIT)
        fit_network(
            network,
            self.play,
            self.encoding,
            self.policy_memory,
            config.fit(config.policy_steps),
            draws,
            answer=probabilities,
        )
        return network

    def trained(self) -> dict[str, Tensor]:
        """Returns the network of the average policy, or all networks of the mixture behind their weights."""
        if self.config.average == NETWORK:
            return {"average": parameters(self._average_network())}
        return {f"mixture.{player}": torch.stack(mixed) for player, mixed in enumerate(self._mixed) if mixed}

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes in a run."""
        state: dict[str, Tensor] = {}
        memories = {"0": self.memories[0], "1": self.memories[1], "policy": self.policy_memory}
        for name, memory in memories.items():
            state |= {f"memory.{name}.{part}": tensor for part, tensor in memory.tensors().items()}
        for player in (0, 1):
            network = self.networks[player]
            if network is not None:
                state[f"network.{player}"] = parameters(network)
            if self._mixed[player]:
                state[f"mixture.{player}"] = torch.stack(self._mixed[player])
            if self.mixture is not None:
                state[f"sum.{player}"] = torch.from_numpy(self.mixture.sums[player])
        return state

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""
        memories = {"0": self.memories[0], "1": self.memories[1], "policy": self.policy_memory}
        for name, memory in memories.items():
            memory.load(without_prefix(tensors, f"memory.{name}."), self.play.num_infostates)
        for player in (0, 1):
            if (vector := tensors.get(f"network.{player}")) is not None:
                self.networks[player], self._asks[player] = self._loaded_network(vector), None
            self._mixed[player][:] = list(tensors.get(f"mixture.{player}", ()))
            if self.board_mixture is not None:
                for row in self._mixed[player]:
                    self.board_mixture.add(self._ask_network(self._loaded_network(row[1:])), player, float(row[0]))
            if self.mixture is None:
                continue
            sums = as_vectors(tensors[f"sum.{player}"])
            if sums.shape != self.mixture.sums[player].shape:
                raise ValueError(f"a mixture of player {player} has shape {sums.shape}")
            self.mixture.sums[player] = sums


def regret_policies(
    play: SampledGame, network: InfostateNetwork | None, encoding: Encoding, matching: Matching
) -> NetworkPolicies:
    """Returns the policies that match what a network says about regrets; uniform ones without a network."""
    if network is None:
        return NetworkPolicies(play, None)

    def answer(infostates: Tensor, legal: Tensor) -> Tensor:
        return matching.policy(encoding.of_actions(infostates, network(encoding.inputs(infostates))), legal)

    return NetworkPolicies(play, answer)
