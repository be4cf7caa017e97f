"""Everything that defines a training run of ReBeL, and the named settings.

Reference: ReBeL App. G; where it is silent, the defaults of the authors' release for Liar's Dice.
"""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import Any

from aleator.errors import SolveError, check_known, shown
from aleator.learning import settings
from aleator.learning.rebel.self_play import SelfPlayConfig
from aleator.learning.value_network.encoding import ENCODINGS
from aleator.learning.value_network.networks import NetworkConfig
from aleator.solvers.regret_rule import RegretRule
from aleator.solvers.search_rule import SearchRule, find_rule
from aleator.solvers.warm_start import REBEL_ITERATIONS

_MOST_LAYERS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class RebelConfig:
    """A training run.

    Attributes:
        game: name of the game.
        depth: moves in a subgame before its leaves.
        search: how subgames are solved, a name in `aleator.search.SEARCH_RULES`: cfr-d, discounted-cfr-d, sharp-cfr-d,
            modified-cfr-ave, fp, linear-fp or flop; minimax for perfect information. cfr-ave needs an oracle.
        updates: of one player each, in a search (the paper calls them iterations); 1 for minimax.
        encoding: how players are named in inputs: relative, absolute, or auto (relative where rules are symmetric).
        layers, width, layer_norm: the network.
        zero_sum: with DeepStack's outer layer, which makes both players' values sum to zero.
        policy: train a policy network beside the value network.
        warm_start: how many updates of each player its policies stand for when searches start with them; 0 for uniform
            starts.
        games: games played at the same time.
        blocks: parts of these games with random numbers of their own, each played by one worker at a time.
        exploration: probability of a random action of the exploring player.
        linear_sampling: sample later updates more often when moving on.
        random_beliefs: draw beliefs at random instead of following play (the paper's ablation; it fails).
        searches: subgames to search in all.
        warm_up: share of the run after which half of the examples so far, those of the first networks, are dropped; 0
            keeps them.
        draws: how often an example is drawn for training, on average.
        batch: examples in a training step.
        replay: examples kept.
        learning_rate: of Adam at the start.
        halvings: shares of the run after which the learning rate is halved.
        clip: largest norm of a gradient.
        averaging: decay per training step of the moving average of parameters that searches use; 0 for none.
        seed: of all randomness.
    """

    game: str = "liars-dice:1x4"
    depth: int = 2
    search: str = "cfr-d"
    updates: int = 1024
    encoding: str = "auto"
    layers: int = 2
    width: int = 256
    layer_norm: bool = True
    zero_sum: bool = False
    policy: bool = False
    warm_start: int = REBEL_ITERATIONS
    games: int = 64
    blocks: int = 1
    exploration: float = 0.25
    linear_sampling: bool = False
    random_beliefs: bool = False
    searches: int = 3_200_000
    warm_up: float = 0.02
    draws: float = 4.0
    batch: int = 512
    replay: int = 2_000_000
    learning_rate: float = 3e-4
    halvings: tuple[float, ...] = (0.4, 0.8)
    clip: float = 5.0
    averaging: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.rule.oracle:
            raise SolveError(f"{self.search} needs an oracle at the leaves, not a network; train by modified-cfr-ave")
        if self.rule.minimax and self.updates != 1:
            raise SolveError(f"minimax solves a subgame in 1 update, not {self.updates}")
        check_known(self.encoding, ENCODINGS, "encoding")
        settings.check_at_least(self, 1, "depth", "updates", "layers", "width", "games", "searches", "batch", "replay")
        if self.layers > _MOST_LAYERS:
            raise SolveError(f"layers must be at least 1 and at most {_MOST_LAYERS}, not {shown(self.layers)}")
        settings.check_at_least(self, 0, "warm_start", "seed")
        if not 1 <= self.blocks <= self.games:
            raise SolveError(f"blocks must be at least 1 and at most {self.games:,} (games), not {shown(self.blocks)}")
        if self.policy and self.warm_start and not isinstance(self.rule.update, RegretRule):
            raise SolveError(f"{self.search} cannot be warm started; set warm_start=0, or search by cfr-d")
        for name in ("warm_up", "averaging"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise SolveError(f"{name} must be at least 0 and less than 1, not {getattr(self, name)}")
        if not 0.0 <= self.exploration <= 1.0:
            raise SolveError(f"exploration must be a probability, not {self.exploration}")
        for name in ("learning_rate", "draws", "clip"):
            if not 0.0 < getattr(self, name) < math.inf:
                raise SolveError(f"{name} must be positive, not {getattr(self, name)}")
        if not all(0.0 <= share <= 1.0 for share in self.halvings):
            raise SolveError(f"halvings must be shares of the run between 0 and 1, not {list(self.halvings)}")

    @property
    def network(self) -> NetworkConfig:
        """What the value network looks like."""
        return NetworkConfig(layers=self.layers, width=self.width, layer_norm=self.layer_norm, zero_sum=self.zero_sum)

    def self_play(self, games: int) -> SelfPlayConfig:
        """Returns how self-play with so many games explores."""
        return SelfPlayConfig(
            games=games,
            exploration=self.exploration,
            linear_sampling=self.linear_sampling,
            random_beliefs=self.random_beliefs,
        )

    @property
    def rule(self) -> SearchRule:
        """How subgames are solved."""
        return find_rule(self.search)

    @property
    def epochs(self) -> int:
        """Rounds of self-play in which every game is searched once."""
        return -(-self.searches // self.games)

    def to_dict(self) -> dict[str, Any]:
        """Returns the fields as JSON values."""
        return asdict(self)

    @staticmethod
    def from_dict(values: dict[str, Any]) -> RebelConfig:
        """Returns the config that `to_dict` wrote, now or when `updates` were called iterations.

        Raises:
            SolveError: a field is unknown or has an impossible value.
        """
        if isinstance(values, dict) and "updates" not in values:
            values = {_RENAMED.get(name, name): value for name, value in values.items()}
        return settings.from_dict(RebelConfig, values)


_RENAMED = {"iterations": "updates"}  # in files of earlier versions


def parse_setting(text: str) -> tuple[str, Any]:
    """Returns name and value of a setting that was typed as NAME=VALUE; lists as `0.4,0.8`.

    Raises:
        SolveError: there is no such field, or the value is not of its kind.
    """
    return settings.parse_setting(RebelConfig, text)


PRESETS: dict[str, dict[str, Any]] = {
    "paper": {"encoding": "absolute"},
    "fast": {
        "search": "sharp-cfr-d",
        "updates": 512,
        "layers": 4,
        "games": 8192,
        "exploration": 0.5,
        "batch": 4096,
        "draws": 100.0,
        "replay": 400_000,
        "learning_rate": 3e-3,
        "halvings": (0.3, 0.5, 0.65, 0.75, 0.85, 0.9, 0.95),
        "averaging": 0.999,
        "searches": 1_300_000,
    },
    "demo": {
        "updates": 128,
        "games": 256,
        "searches": 40_000,
        "draws": 16.0,
        "batch": 256,
        "learning_rate": 1e-3,
        "halvings": (0.4, 0.6, 0.75, 0.85, 0.95),
        "averaging": 0.99,
        "replay": 100_000,
    },
    # games of perfect information without chance; exploration is complete because minimax itself never mixes
    "perfect-information": {
        "search": "minimax",
        "updates": 1,
        "layers": 3,
        "width": 128,
        "games": 256,
        "exploration": 1.0,
        "searches": 60_000,
        "draws": 8.0,
        "batch": 256,
        "learning_rate": 2e-3,
        "halvings": (0.4, 0.6, 0.75, 0.85, 0.95),
        "averaging": 0.99,
        "replay": 32_768,
    },
}


def preset(name: str, **changes: Any) -> RebelConfig:
    """Returns a named setting with some fields changed.

    Raises:
        SolveError: no such setting; the message lists them.
    """
    return settings.from_preset(RebelConfig, PRESETS, name, **changes)
