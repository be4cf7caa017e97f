"""Pluribus' search for any number of players, on the sequence form of small games, where it can be measured exactly.

Algorithm:
    The searched subgame begins where the current betting round did, at everybody's beliefs there, and goes on to the
    next public card, or to the end of the game in the last round. What the searcher has played in the round is held
    fixed; all else is solved anew by linear CFR at each of its decisions. At a leaf every player who is still in
    chooses, without being seen, among k = 4 continuations for the rest of the game: the blueprint, and the blueprint
    with the probability of folding, of calling or of raising multiplied by 5. The searcher plays the last iteration's
    policy; beliefs in the next round follow from the average over iterations.

Reference: thesis 6.6; Brown and Sandholm 2019 (Science 365), supplement: "depth-limited search", "search".
Deviations: values at leaves are exact sums, Pluribus rolls out; all iterations visit everything. Bets that a blueprint
    lacks cannot come in these games. A player who has not acted before a leaf chooses the same for all its hands.
Status: tests/search/pluribus/test_small_games.py; `aleator paper pluribus-small`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import product
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.errors import SolveError
from aleator.games.base import CHANCE, FloatArray
from aleator.search.budget import check_budget
from aleator.search.multi_valued import kind_of
from aleator.solvers.multiplayer.cfr import Anchor, MultiplayerCFR
from aleator.solvers.multiplayer.evaluation import reach_of, sequence_values
from aleator.solvers.regret_rule import LCFR, RegretRule
from aleator.trees.sequence_form import SequenceForm

BIASES = ("fold", "call", "raise")
Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class MultiplayerSearch:
    """How a round is searched.

    Attributes:
        iterations: of each search.
        rule: the regret rule; Pluribus uses linear CFR.
        bias: what the probability of a kind of actions is multiplied by in continuations.
        first_round: rounds before are played by the blueprint; Pluribus searches from the second, 1, on.
        to_the_end: from every round on, without leaves.
        play_average: play the average over iterations in place of the last one.
        trust: how often the others are taken to play the blueprint on, from the start of the round; else they are free.
            At 0 the search is Pluribus', at 1 a best response to the blueprint, between them a restricted Nash
            response (Johanson, Zinkevich, Bowling 2007).
        guard: whether an infostate plays the blueprint where the search's policy is worth less there, if everybody
            plays the blueprint on. Then no seat that searches alone wins less than the blueprint would: what it wins
            more is a sum of what its policy is worth more in each infostate (Kakade, Langford 2002, lemma 6.1).
    """

    iterations: int = 200
    rule: RegretRule = LCFR
    bias: float = 5.0
    first_round: int = 0
    to_the_end: bool = False
    play_average: bool = False
    trust: float = 0.0
    guard: bool = False

    def __post_init__(self) -> None:
        check_budget(self.iterations, None)
        if not self.bias > 0.0:
            raise SolveError(f"the bias of continuations must be positive, not {self.bias}")
        if not 0.0 <= self.trust <= 1.0:
            raise SolveError(f"trust in the blueprint is a number from 0 to 1, not {self.trust}")


class Subform(NamedTuple):
    """A subgame of a sequence form.

    Attributes:
        form: of the subgame; payoffs have chance's part in it, nobody's beliefs.
        infostates: [I of the subgame] numbers in the whole game, -1 for a choice at a leaf.
        before: [P, T of the subgame] everybody's last sequence of the whole game before the subgame.
    """

    form: SequenceForm
    infostates: Int64
    before: npt.NDArray[np.int32]

    def weighted(self, reach: FloatArray) -> SequenceForm:
        """Returns the subgame with payoffs weighted by beliefs: of each player by the others' part in coming here."""
        own = reach[self.before]
        others = np.stack([np.delete(own, player, 0).prod(axis=0) for player in range(len(own))])
        return replace(self.form, payoff=self.form.payoff * others)


def continuations(form: SequenceForm, blueprint: FloatArray, bias: float = 5.0) -> list[FloatArray]:
    """Returns four profiles [E]: the blueprint, and the blueprint biased towards folding, calling and raising."""
    kinds = np.array([kind_of(name, at, len(names)) for names in form.actions for at, name in enumerate(names)])
    profiles = [blueprint]
    for kind in BIASES:
        weights = blueprint * np.where(kinds == kind, bias, 1.0)
        profiles.append(weights / np.repeat(np.add.reduceat(weights, form.first[:-1]), np.diff(form.first)))
    return profiles


class _Sides(NamedTuple):
    """Terminals of a subgame in the making: sequences inside it, those before it, payoffs."""

    sequence: Int64
    before: Int64
    payoff: FloatArray


class Subgames:
    """The subgames of a game that searches solve, each made once.

    Args:
        form: of the whole game.
        blueprint: [E] what continuations are made of.
        config: how it is searched.
    """

    def __init__(self, form: SequenceForm, blueprint: FloatArray, config: MultiplayerSearch) -> None:
        if len(form.publics) < 2:
            raise SolveError(f"{form.name} does not say what is public: it cannot be searched")
        self.form, self.config = form, config
        self._profiles = continuations(form, blueprint, config.bias)
        self._infostate = np.append(form.infostate_of(), -1).astype(np.int64)
        self._round = np.append(form.publics.round[form.public][self._infostate[:-1]], -1)  # [E + 1]
        self._parent = np.append(form.parent, form.num_sequences).astype(np.int64)  # of infostates; of none: nothing
        self._made: dict[int, Subform] = {}

    def at(self, start: int) -> Subform:
        """Returns the subgame that begins with a round."""
        if start not in self._made:
            self._made[start] = self._make(start)
        return self._made[start]

    def _leaves(self, start: int) -> list[int]:
        """Returns the public states in which a search from a round's start ends: chance's next moves there."""
        publics = self.form.publics
        if self.config.to_the_end:
            return []
        inside = range(start, int(publics.end[start]))
        return [s for s in inside if publics.actor[s] == CHANCE and publics.round[s] == publics.round[start]]

    def _up(self, sequence: Int64, last: int) -> Int64:
        """Returns for each sequence the player's last one in a round up to `last`; itself if it is."""
        sequence = sequence.copy()
        while (late := self._round[sequence] > last).any():
            sequence[late] = self._parent[self._infostate[sequence[late]]]
        return sequence

    def _make(self, start: int) -> Subform:
        form, publics = self.form, self.form.publics
        now = int(publics.round[start])
        begin, end = form.below(start)
        leaves = self._leaves(start)
        under = np.zeros(len(publics), np.bool_)
        for leaf in leaves:
            under[leaf : publics.end[leaf]] = True
        kept = np.flatnonzero(~under[form.last_public[begin:end]]) + begin
        sequence = form.sequence[:, kept].astype(np.int64)
        parts = [_Sides(sequence, self._up(sequence, now - 1), form.payoff[:, kept])]
        choices: list[tuple[int, int, int]] = []  # of a choice at a leaf: player, leaf, the player's sequence before
        if leaves:
            reaches = [self._reach_after(profile, now) for profile in self._profiles]
            parts += [self._leaf(leaf, now, reaches, choices) for leaf in leaves]
        sides = _Sides(*(np.concatenate([part[field] for part in parts], axis=1) for field in range(3)))
        inside = (form.public >= start) & (form.public < publics.end[start]) & ~under[form.public]
        return self._assemble(np.flatnonzero(inside), choices, sides)

    def _reach_after(self, profile: FloatArray, now: int) -> FloatArray:
        """Returns [E + 1]: reach by a profile from the end of a round on."""
        later = np.where(self._round[:-1] > now, profile, 1.0)
        return reach_of(self.form, later)

    def _leaf(self, leaf: int, now: int, reaches: list[FloatArray], choices: list[tuple[int, int, int]]) -> _Sides:
        """Returns the ends that stand for a leaf: one for each set of histories alike to all, and of choices."""
        form, publics, count = self.form, self.form.publics, self.form.num_players
        begin, end = form.below(leaf)
        sequence = form.sequence[:, begin:end].astype(np.int64)
        before = self._up(sequence, now)
        active = [
            player for player in range(count)
            if ((form.public > leaf) & (form.public < publics.end[leaf]) & (form.player == player)).any()
        ]  # fmt: skip
        groups, group = np.unique(before, axis=1, return_inverse=True)
        group = group.reshape(-1)
        number = {}  # of choices, by player and sequence; their sequences begin after all of the game's
        stride, first = len(reaches), form.num_sequences + 1
        for player in active:
            for own in np.unique(groups[player]).tolist():
                number[player, own] = len(choices)
                choices.append((player, leaf, own))
        parts = []
        for chosen in product(range(stride), repeat=len(active)):
            weight = np.ones(end - begin)
            after = groups.copy()
            for player, choice in zip(active, chosen, strict=True):
                weight *= reaches[choice][sequence[player]]
                after[player] = [first + stride * number[player, own] + choice for own in groups[player].tolist()]
            won = form.payoff[:, begin:end] * weight
            payoff = np.array([np.bincount(group, row, groups.shape[1]) for row in won], np.float64)
            parts.append(_Sides(after, self._up(groups, now - 1), payoff))
        return _Sides(*(np.concatenate([part[field] for part in parts], axis=1) for field in range(3)))

    def _assemble(self, infostates: Int64, choices: list[tuple[int, int, int]], sides: _Sides) -> Subform:
        """Returns the subgame of some infostates of the game and some choices at leaves."""
        form, stride = self.form, len(self._profiles)
        total = form.num_sequences
        owner = np.concatenate((form.player[infostates], np.array([p for p, _, _ in choices], np.int64)))
        public = np.concatenate((form.public[infostates], np.array([leaf for _, leaf, _ in choices], np.int64)))
        numbers = np.concatenate((infostates, np.full(len(choices), -1)))
        starts = np.concatenate((form.first[infostates], total + 1 + stride * np.arange(len(choices))))
        counts = np.concatenate((np.diff(form.first)[infostates], np.full(len(choices), stride)))
        parents = np.concatenate((form.parent[infostates], np.array([own for _, _, own in choices], np.int64)))
        order = np.lexsort((public, owner)) if len(owner) else np.zeros(0, np.int64)
        first = np.concatenate(([0], np.cumsum(counts[order])))
        inside = int(first[-1])
        moved = np.full(total + 1 + stride * len(choices), inside, np.int64)  # outside the subgame: nothing done
        within = np.arange(inside) - np.repeat(first[:-1], counts[order])
        moved[np.repeat(starts[order], counts[order]) + within] = np.arange(inside)
        made = SequenceForm(
            name=form.name,
            num_players=form.num_players,
            player=owner[order].astype(np.int32),
            first=first.astype(np.int32),
            parent=moved[parents[order]].astype(np.int32),
            public=public[order].astype(np.int32),
            keys=[],
            actions=[],
            sequence=np.ascontiguousarray(moved[sides.sequence], np.int32),
            payoff=np.ascontiguousarray(sides.payoff),
            last_public=np.zeros(sides.payoff.shape[1], np.int32),
            publics=form.publics,
        )
        return Subform(made, numbers[order].astype(np.int64), np.ascontiguousarray(sides.before, np.int32))


class _Round(NamedTuple):
    """A round as far as the searcher has searched it.

    Attributes:
        start: the public state in which it began.
        beliefs: [E] what everybody is believed to have played before it and, after a search, in it: averages.
        played: [E] the same with what the searcher really plays.
    """

    start: int
    beliefs: FloatArray
    played: FloatArray


class MultiplayerSearcher:
    """A seat that searches at each of its decisions, while all others are believed to play as searches say.

    Args:
        form: of the game.
        blueprint: [E] of everybody.
        seat: who searches.
        config: how.
    """

    def __init__(
        self, form: SequenceForm, blueprint: FloatArray, seat: int, config: MultiplayerSearch | None = None
    ) -> None:
        if not 0 <= seat < form.num_players:
            raise SolveError(f"{form.name} has seats 0 to {form.num_players - 1}, not {seat}")
        self.form, self.blueprint, self.seat = form, blueprint, seat
        self.config = config or MultiplayerSearch()
        self.subgames = Subgames(form, blueprint, self.config)
        self.searches = 0
        self._worth = sequence_values(form, blueprint, seat) if self.config.guard else None

    def profile(self) -> FloatArray:
        """Returns [E]: the blueprint with what the seat plays by searching in its place, at every public state."""
        publics = self.form.publics
        result = self.blueprint.copy()
        rounds: list[_Round] = []
        for state in range(len(publics)):
            parent = int(publics.parent[state])
            if parent < 0:
                now = _Round(state, self.blueprint, self.blueprint)
            elif publics.actor[parent] == CHANCE:
                now = rounds[parent]._replace(start=state)
            else:
                now = rounds[parent]
            if publics.actor[state] == self.seat and publics.round[state] >= self.config.first_round:
                now = self._search(now, state)
                entries = self._entries(state)
                if self._worth is not None:
                    now.played[entries] = self._guarded(state, now.played)
                result[entries] = now.played[entries]
            rounds.append(now)
        return result

    def _entries(self, state: int) -> Int64:
        """Returns the sequences of the seat at a public state."""
        return _entries_of(self.form, self._infostates(state))

    def _infostates(self, state: int) -> Int64:
        """Returns the infostates of the seat at a public state."""
        return np.flatnonzero((self.form.public == state) & (self.form.player == self.seat))

    def _guarded(self, state: int, played: FloatArray) -> FloatArray:
        """Returns what the seat plays at a public state: the blueprint where that is worth more than ``played``."""
        entries, infostates = self._entries(state), self._infostates(state)
        assert self._worth is not None
        own, blueprint = played[entries], self.blueprint[entries]
        counts = np.diff(self.form.first)[infostates]
        more = np.add.reduceat((own - blueprint) * self._worth[entries], np.cumsum(counts) - counts)
        return np.where(np.repeat(more < 0.0, counts), blueprint, own)

    def _search(self, now: _Round, state: int) -> _Round:
        """Returns the round solved again, the seat's decisions above a state held at what was played."""
        self.searches += 1
        form, publics, subgame = self.form, self.form.publics, self.subgames.at(now.start)
        weighted = subgame.weighted(reach_of(form, now.beliefs))
        held, above = np.zeros(len(publics) + 1, np.bool_), int(publics.parent[state])
        while above >= now.start:
            held[above] = publics.actor[above] == self.seat
            above = int(publics.parent[above])
        own = subgame.infostates >= 0
        numbers = subgame.infostates[own]
        locked = np.zeros(weighted.num_infostates, np.bool_)
        locked[own] = held[form.public[numbers]] & (form.player[numbers] == self.seat)
        inside, whole = _matching(weighted, own), _entries_of(form, numbers)
        begin = np.repeat(1.0 / np.diff(weighted.first), np.diff(weighted.first))
        begin[inside] = np.where(np.repeat(locked, np.diff(weighted.first))[inside], now.played[whole], begin[inside])
        anchor = self._anchor(weighted, inside, whole) if self.config.trust > 0.0 else None
        solver = MultiplayerCFR(weighted, self.config.rule, locked=locked, start=begin, anchor=anchor)
        solver.run(self.config.iterations)
        average = solver.average_profile()
        if anchor is not None:
            average = _mixed(weighted, average, anchor)
        beliefs, played = now.beliefs.copy(), now.played.copy()
        beliefs[whole] = average[inside]
        played[whole] = average[inside] if self.config.play_average else solver.profile[inside]
        return _Round(now.start, beliefs, played)

    def _anchor(self, weighted: SequenceForm, inside: Int64, whole: Int64) -> Anchor:
        """Returns what the others are trusted to play in a round: the blueprint, also as their choice at leaves."""
        profile = np.zeros(weighted.num_sequences)
        profile[weighted.first[:-1]] = 1.0  # the first of the continuations
        profile[inside] = self.blueprint[whole]
        is_other = np.append(weighted.player[weighted.infostate_of()] != self.seat, False)
        return Anchor(reach_of(weighted, profile), np.where(is_other, self.config.trust, 0.0))


def _mixed(form: SequenceForm, profile: FloatArray, anchor: Anchor) -> FloatArray:
    """Returns [E]: what players seem to play who play their anchor from time to time; where nobody comes, the profile.

    Args:
        form: of the game.
        profile: what they play else.
        anchor: what it is, and how often.
    """
    reach = (anchor.share * anchor.reach + (1.0 - anchor.share) * reach_of(form, profile))[:-1]
    total = np.repeat(np.add.reduceat(reach, form.first[:-1]), np.diff(form.first))
    return np.asarray(np.divide(reach, total, out=profile.copy(), where=total > 0.0))


def _entries_of(form: SequenceForm, infostates: Int64) -> Int64:
    """Returns the sequences of some infostates, in their order."""
    return np.concatenate([np.arange(form.first[k], form.first[k + 1]) for k in infostates])


def _matching(form: SequenceForm, own: npt.NDArray[np.bool_]) -> Int64:
    """Returns the sequences of a subgame that are the game's, in the order of its infostates."""
    return _entries_of(form, np.flatnonzero(own))
