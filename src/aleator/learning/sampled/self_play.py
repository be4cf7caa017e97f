"""Games in which each player acts by its best responses or by its average policy, for NFSP.

Games on a tree are played one after the other by compiled code that looks policies up in tables and counts
(`aleator.solvers.engines.sampling.self_play`): millions of decisions a second. Games whose infostates nobody lists are
played in lockstep: networks are asked once per decision of all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from aleator.learning.sampled.play import SampledGame, TreePlay
from aleator.learning.sampled.transitions import Transitions
from aleator.learning.sampled.traversal import Policies, Samples, draw_actions
from aleator.solvers.engines.sampling.self_play import new_counts, play_games

Tensor = torch.Tensor


class Players(NamedTuple):
    """How both players act.

    Attributes:
        best: the policies that take the best action.
        average: the average policies.
        anticipatory: the chance that a player acts by `best` in a game.
        epsilon: the chance that it then takes any action, at random.
    """

    best: Policies
    average: Policies
    anticipatory: float
    epsilon: float

    def responses(self, best: Tensor, legal: Tensor) -> Tensor:
        """Returns [n, A]: what who acts by `best` does, given its best actions [n, A] and the legal ones [n, A]."""
        share = legal.double()
        return (1.0 - self.epsilon) * best + self.epsilon * share / share.sum(dim=1, keepdim=True).clamp(min=1.0)


class Played(NamedTuple):
    """What came of games.

    Attributes:
        transitions: all decisions.
        best: the best actions at the decisions of those who acted by `best`.
        nodes: histories that were visited, chance's and terminal ones included.
    """

    transitions: Transitions
    best: Samples
    nodes: int


def play_on_tree(play: TreePlay, players: Players, games: int, generator: torch.Generator) -> Played:
    """Returns what comes of games on a tree; decisions that are alike are one row with their number."""
    everything = torch.arange(play.num_infostates, device=play.device)
    best, legal = players.best.probabilities(everything), play.legal(everything)
    tables = (players.responses(best, legal), players.average.probabilities(everything))
    ends = np.stack([play.rows_of(_ends(table)) for table in tables])
    seed = int(torch.randint(2**62, (1,), generator=generator, device=play.device))
    counts = new_counts(ends.shape[1])
    nodes = play_games(play.histories, ends, players.anticipatory, games, np.uint64(seed), 0, counts)
    infostate, action = play.entries
    after = np.flatnonzero(counts.arrivals)
    number = counts.number.copy()
    np.subtract.at(number, counts.before[after], counts.arrivals[after])
    over = np.flatnonzero(number)  # the player did not decide again
    entry = np.concatenate([over, counts.before[after]])
    following = np.concatenate([np.full(len(over), -1), infostate[after]])
    rewards = np.concatenate([counts.rewards[over], np.zeros(len(after))]) / play.bound()
    number = np.concatenate([number[over], counts.arrivals[after]]).astype(np.float64)
    columns = infostate[entry], action[entry], rewards, following, number
    transitions = Transitions(*(torch.from_numpy(column).to(play.device) for column in columns))
    row = np.flatnonzero(counts.responses)
    met, responses = (torch.from_numpy(x).to(play.device) for x in (infostate[row], counts.responses[row]))
    return Played(transitions, Samples(met, best[met], responses.double()), int(nodes))


def _ends(policy: Tensor) -> Tensor:
    """Returns [n, A]: cumulative probabilities that end with 1."""
    ends = policy.cumsum(dim=1)
    return ends / ends[:, -1:].clamp(min=torch.finfo(ends.dtype).tiny)


def play_in_lockstep(play: SampledGame, players: Players, games: int, generator: torch.Generator) -> Played:
    """Returns what comes of games that are played beside each other, a row for each decision."""
    device, unit = play.device, play.bound()
    histories, game = play.deal(games, generator), torch.arange(games, device=device)
    responds = torch.rand((games, 2), generator=generator, device=device) < players.anticipatory
    last = torch.full((games, 2), -1, device=device)
    infostates, actions, links, best = [], [], [], []
    rows, nodes, ended, over = 0, 0, [], []
    while len(game):
        actor = play.actor(histories)
        done = (actor < 0).nonzero().squeeze(1)
        ended.append(game[done])
        over.append(histories.rows(done))
        going = (actor >= 0).nonzero().squeeze(1)
        histories, game, actor = histories.rows(going), game[going], actor[going]
        here = play.infostate(histories)
        mode = responds[game, actor]
        responding, averaging = mode.nonzero().squeeze(1), (~mode).nonzero().squeeze(1)
        chances = torch.zeros((len(here), play.num_actions), dtype=torch.float64, device=device)
        chances[averaging] = players.average.probabilities(here[averaging])
        best_here = players.best.probabilities(here[responding])
        chances[responding] = players.responses(best_here, play.legal(here[responding]))
        action = draw_actions(chances, generator)
        before = last[game, actor]
        again = (before >= 0).nonzero().squeeze(1)
        links.append(torch.stack([before[again], here[again]]))
        last[game, actor] = rows + torch.arange(len(game), device=device)
        rows += len(game)
        infostates.append(here)
        actions.append(action)
        best.append((here[responding], best_here))
        histories = play.act(histories, action, generator)
    following = torch.full((rows,), -1, device=device)
    link = torch.cat(links, dim=1)
    following[link[0]] = link[1]
    rewards = torch.zeros(rows, dtype=torch.float64, device=device)
    for finished, where in zip(over, ended, strict=True):
        nodes += int((play.length(finished) + 1).sum())
        for player in (0, 1):
            row = last[where, player]
            acted = (row >= 0).nonzero().squeeze(1)
            rewards[row[acted]] = play.returns(finished, player)[acted] / unit
    met, taken = (torch.cat(column) for column in zip(*best, strict=True))
    samples = Samples(met, taken, torch.ones(len(met), dtype=torch.float64, device=device))
    number = torch.ones(rows, dtype=torch.float64, device=device)
    return Played(Transitions(torch.cat(infostates), torch.cat(actions), rewards, following, number), samples, nodes)
