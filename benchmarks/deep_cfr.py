"""Traversals per second of Deep CFR against OpenSpiel's torch implementation in the same run."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import torch

from aleator.apps.benchmarking import Progress, Result
from aleator.learning.sampled.deep_cfr import DeepCFR
from aleator.learning.sampled.deep_cfr_config import DeepCfrConfig
from aleator.learning.sampled.matching import Matching, regret_policies
from aleator.learning.sampled.trainer import BothPolicies
from aleator.learning.sampled.traversal import parse_sampling, traverse
from aleator.solvers.engines.torch_threads import one_thread

SUMMARY = "Deep CFR traversals per second on Leduc, against OpenSpiel's torch Deep CFR in the same run"

# our name, OpenSpiel's name, scheme; OpenSpiel has external sampling alone
GAMES = [
    ("leduc", "leduc_poker", "external"),
    ("leduc", None, "robust1"),
    ("leduc", None, "outcome"),
    ("kuhn", "kuhn_poker", "external"),
    ("liars-dice:1x4", "liars_dice(numdice=1,dice_sides=4)", "external"),
]
ROUNDS, SECONDS, TRAVERSALS = 3, 1.0, 4096


def run(progress: Progress) -> Result:
    """Returns rates of traversals with networks that have been fitted once; both on one thread.

    The two take turns for `ROUNDS` x `SECONDS`; the best round counts, since other work on the machine only slows down.
    """
    rows: list[dict[str, Any]] = []
    with one_thread():
        for place, (name, peer_name, scheme) in enumerate(GAMES):
            progress(place / len(GAMES), f"{name}, {scheme}")
            ours, theirs = _Ours(name, scheme), _openspiel(peer_name)
            best, peer = 0.0, 0.0
            for _ in range(ROUNDS):
                best = max(best, _rate(ours.traverse))
                peer = max(peer, _rate(theirs)) if theirs else 0.0
            rows.append(
                {
                    "game": name,
                    "scheme": scheme,
                    "traversals/s": best,
                    "nodes/traversal": ours.touched / ours.done,
                    "nodes/s": best * ours.touched / ours.done,
                    "OpenSpiel traversals/s": peer or None,
                    "ratio": best / peer if peer else None,
                }
            )
    return Result(
        title=f"Deep CFR, traversals per second, {TRAVERSALS:,} in lockstep, flat networks of 3 x 128, one thread",
        rows=rows,
        notes=[
            "ours asks its networks once per decision of all histories, each infostate once, and forgets the answers "
            "after every batch; OpenSpiel's asks history by history. Neither trains here."
        ],
    )


class _Ours:
    """Deep CFR after one iteration."""

    def __init__(self, name: str, scheme: str) -> None:
        self._trainer = DeepCFR(DeepCfrConfig(game=name, iterations=1, traversals=200, steps=5))
        self._trainer.run_epoch()
        self._rule, self._generator = parse_sampling(scheme), torch.Generator().manual_seed(0)
        self.touched, self.done = 0, 0

    def traverse(self) -> int:
        """Runs a batch of traversals for each player and returns how many there were."""
        play, encoding, networks = self._trainer.play, self._trainer.encoding, self._trainer.networks
        for player in (0, 1):
            first, second = (regret_policies(play, network, encoding, Matching(best=True)) for network in networks)
            both = BothPolicies(play, (first, second))
            self.touched += traverse(play, both, player, TRAVERSALS, self._rule, self._generator).touched
        self.done += 2 * TRAVERSALS
        return 2 * TRAVERSALS


def _rate(run: Any) -> float:
    """Returns the traversals per second of about `SECONDS`."""
    started, done = perf_counter(), 0
    while perf_counter() - started < SECONDS:
        done += run()
    return done / (perf_counter() - started)


def _openspiel(name: str | None) -> Any:
    """Returns a function that runs one traversal for each player, or None if OpenSpiel or what it needs is missing."""
    if name is None:
        return None
    try:
        import pyspiel
        from open_spiel.python.pytorch.deep_cfr import DeepCFRSolver
    except ImportError:
        return None
    game = pyspiel.load_game(name)
    solver = DeepCFRSolver(game, advantage_network_layers=(128, 128, 128), memory_capacity=100_000)

    def traverse_both() -> int:
        for player in (0, 1):
            solver._traverse_game_tree(game.new_initial_state(), player)
        return 2

    return traverse_both
