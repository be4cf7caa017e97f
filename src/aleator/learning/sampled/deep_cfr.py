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
from typing import Any

import torch

from aleator.games.base import Game
from aleator.learning.run_files import without_prefix
from aleator.learning.sampled.board_play import BoardEncoding, BoardPlay
from aleator.learning.sampled.board_traversals import BoardTraversals
from aleator.learning.sampled.deep_cfr_config import DRAWS_OF_AVERAGE, MIXTURE, NETWORK, DeepCfrConfig
from aleator.learning.sampled.encoding import Encoding
from aleator.learning.sampled.fitting import fit_network, probabilities
from aleator.learning.sampled.game_traversals import GameTraversals, TreeTraversals
from aleator.learning.sampled.matching import regret_policies
from aleator.learning.sampled.memory import Ledger, Memory
from aleator.learning.sampled.network import InfostateNetwork
from aleator.learning.sampled.network_trainer import NetworkTrainer, open_game
from aleator.learning.sampled.play import SampledGame, TreePlay
from aleator.learning.sampled.trainer import BothPolicies, NetworkPolicies, parameters
from aleator.learning.sampled.traversal import join_samples
from aleator.learning.seeds import new_generator
from aleator.solvers.regret_rule import RegretRule
from aleator.trees.policy import Policy

Tensor = torch.Tensor


class DeepCFR(NetworkTrainer):
    """A run of Deep CFR or SD-CFR.

    Attributes:
        networks: of regrets, one per player; None before its first fit.
        memories: of regrets, one per player.
        policy_memory: of policies.
        traversals: of this kind of games; they also mix the policies of all networks.
    """

    kind, title = "deep-cfr", "Deep CFR"
    config: DeepCfrConfig

    def __init__(
        self, config: DeepCfrConfig, game: Game[Any] | None = None, *, device: torch.device | str = "cpu"
    ) -> None:
        super().__init__(config, game, device)
        self._check_memory(samples=0 if config.cards else 3 * config.memory, width=config.width, flat=config.flat)
        self.networks: list[InfostateNetwork | None] = [None, None]
        self.traversals = self._open_traversals()
        rule = config.regret_rule
        self.memories, self.policy_memory = (self._new_memory(rule), self._new_memory(rule)), self._new_memory(None)
        self._mixed: tuple[list[Tensor], list[Tensor]] = ([], [])

    def _open(self, device: torch.device | str) -> tuple[SampledGame, Encoding]:
        return open_game(self.game, device, strength=self.config.strength)

    def _open_traversals(self) -> GameTraversals:
        if isinstance(self.play, BoardPlay) and isinstance(self.encoding, BoardEncoding):
            return BoardTraversals(self.config, self.play, self.encoding, self.networks)
        assert isinstance(self.play, TreePlay)
        return TreeTraversals(self.config, self.play, self.encoding)

    def _new_memory(self, rule: RegretRule | None) -> Memory | Ledger:
        config = self.config
        if config.cards:
            return Ledger(rule, self.device)
        return Memory(config.memory, self.play.num_actions, reservoir=config.reservoir, device=self.device)

    def _run_epoch(self) -> dict[str, Any]:
        """Runs one iteration: traversals and a fit for each player."""
        config, t = self.config, self.epoch + 1
        weight, policy_weight = config.weights(t)
        losses, met = [], []
        for player in (0, 1):
            both = BothPolicies(self.play, (self._policies(0), self._policies(1)))
            found, work = self.traversals.find(both, player, t, self.generator)
            self.nodes += found.touched
            self.memories[player].add(found.regrets, weight, self.generator)
            met.append(found.policies)
            self._mix(both, 1 - player, policy_weight)
            losses.append(self._fit_regrets(player))
        if config.average == NETWORK:
            self.policy_memory.add(join_samples(met), policy_weight, self.generator)
        samples = sum(memory.added for memory in self.memories)
        made = {"traversals": 2 * t * config.traversals} if config.traverses else {}
        return {**made, "samples": samples, "loss": sum(losses) / 2, **work}

    def _policies(self, player: int) -> NetworkPolicies:
        """Returns what a player does now."""
        return regret_policies(self.play, self.networks[player], self.encoding, self.config.matching)

    def _mix(self, both: BothPolicies, player: int, weight: float) -> None:
        """Adds what a player does now to the mixture."""
        network = self.networks[player]
        if network is None:
            return
        self.traversals.mix(both, player, weight)
        if self.traversals.keeps_networks:
            self._mixed[player].append(torch.cat([torch.tensor([weight]), parameters(network).cpu()]))

    def _fit_regrets(self, player: int) -> float:
        """Fits the network of a player's regrets and returns the loss."""
        config, network = self.config, self.networks[player]
        if network is None or config.from_scratch:
            # parameters are drawn on the CPU, so that they are the same on every device
            start = torch.randint(2**62, (1,), generator=self.generator, device=self.device)
            generator = torch.Generator().manual_seed(int(start))
            network = self._new_network(generator)
        self.networks[player] = network
        self.traversals.forget(player)
        fit, squashed = config.fit(config.steps), config.matching.squashed
        memory = self.memories[player]
        return fit_network(network, self.play, self.encoding, memory, fit, self.generator, squashed=squashed)

    def _average_network(self) -> InfostateNetwork:
        """Returns a network fitted to the memory of policies; the same whenever it is asked for after an iteration."""
        config = self.config
        generator = new_generator(torch.device("cpu"), config.seed, self.epoch, DRAWS_OF_AVERAGE)
        network = self._new_network(generator)
        draws = new_generator(self.device, config.seed, self.epoch, DRAWS_OF_AVERAGE)
        fit = config.fit(config.policy_steps)
        fit_network(network, self.play, self.encoding, self.policy_memory, fit, draws, answer=probabilities)
        return network

    def average_policy(self) -> Policy:
        """Returns the average policy: the mixture, or what a network fitted to the memory of policies says."""
        return self.mixture_policy() if self.config.average == MIXTURE else self.network_policy()

    def mixture_policy(self) -> Policy:
        """Returns the mixture of all networks' policies, whichever average is asked for.

        Raises:
            SolveError: there are too many infostates.
        """
        return self.traversals.mixture_policy()

    def exploitability(self, stopped: Callable[[], bool] = lambda: False) -> float | None:
        """Returns the exact exploitability of the average policy, in flop hold'em over all flops."""
        if self.config.average == MIXTURE:
            return self.mixture_exploitability(stopped)
        return self.traversals.exploitability(self._average_network, stopped)

    def mixture_exploitability(self, stopped: Callable[[], bool] = lambda: False) -> float | None:
        """Returns the exact exploitability of the mixture; None if it was stopped.

        Raises:
            SolveError: policies are not mixed with these settings.
        """
        return self.traversals.mixture_exploitability(stopped)

    def trained(self) -> dict[str, Tensor]:
        """Returns the network of the average policy, or all networks of the mixture behind their weights."""
        if self.config.average == NETWORK:
            return {"average": parameters(self._average_network())}
        return {f"mixture.{player}": torch.stack(mixed) for player, mixed in enumerate(self._mixed) if mixed}

    def tensors(self) -> dict[str, Tensor]:
        """Returns all that changes in a run."""
        state: dict[str, Tensor] = {}
        for name, memory in self._memories().items():
            state |= {f"memory.{name}.{part}": tensor for part, tensor in memory.tensors().items()}
        for player in (0, 1):
            network = self.networks[player]
            if network is not None:
                state[f"network.{player}"] = parameters(network)
            if self._mixed[player]:
                state[f"mixture.{player}"] = torch.stack(self._mixed[player])
            state |= self.traversals.tensors(player)
        return state

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Takes over what `tensors` gave."""
        for name, memory in self._memories().items():
            memory.load(without_prefix(tensors, f"memory.{name}."), self.play.num_infostates)
        for player in (0, 1):
            if (vector := tensors.get(f"network.{player}")) is not None:
                self.networks[player] = self._loaded_network(vector)
                self.traversals.forget(player)
            self._mixed[player][:] = list(tensors.get(f"mixture.{player}", ()))
            mixed = ((self._loaded_network(row[1:]), float(row[0])) for row in self._mixed[player])
            self.traversals.load(tensors, player, mixed)

    def _memories(self) -> dict[str, Memory | Ledger]:
        return {"0": self.memories[0], "1": self.memories[1], "policy": self.policy_memory}
