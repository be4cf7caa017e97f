"""A blueprint as a tree to play whole hands by, from the blinds on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from aleator.abstraction.blueprint.policy import BlueprintPolicy, open_policy
from aleator.abstraction.buckets import AbstractionError
from aleator.abstraction.packed.shipped import shipped_blueprint
from aleator.abstraction.translation import Translation, pseudo_harmonic
from aleator.agents.whole_hands.base import BatchPolicy, HandAgent, HandPolicy
from aleator.agents.whole_hands.pot_odds import PotOddsAgent
from aleator.agents.whole_hands.tree_agent import KnownTree, TreeAgent
from aleator.caching import Kept
from aleator.errors import AgentError
from aleator.games.base import FloatArray
from aleator.games.holdem.betting_tree import BettingNode, NodeKind
from aleator.games.holdem.cards import NUM_HANDS, blocked_hands
from aleator.games.holdem.hand_batch import NO_CODE, HandBatch, action_code, code_action
from aleator.games.holdem.hand_state import HandSetup, HandState

_KEPT: Final = 4096


class Position(NamedTuple):
    """Where play is: a node of the betting, and the cards on the board."""

    node: BettingNode
    board: tuple[int, ...]


class BlueprintTree(KnownTree[Position]):
    """The tree of a blueprint. It begins where its game does; chips may be scaled.

    Args:
        policy: what is played.
        purify: whether only the likeliest action is played, as Tartanian7 did.

    Attributes:
        policy: as given.
        game: that it plays.
    """

    def __init__(self, policy: BlueprintPolicy, *, purify: bool = False) -> None:
        self.policy, self._purify = policy, purify
        self._blueprint, self._buckets = policy.blueprint, policy.buckets
        self._betting, self.game = self.policy.betting, self.policy.game
        self.dead, self.most = 0, self._betting.stack
        self._steps: dict[int, dict[int, int]] = {}
        self._numbers: Kept[npt.NDArray[np.int64]] = Kept(_KEPT)

    def begins_at(self, state: HandState) -> bool:
        """Returns whether a hand begins.

        Raises:
            AgentError: it is a hand of another game.
        """
        if state.actions:
            return False
        rules, own, stack = state.setup.rules, self.game.rules, min(state.setup.stacks)
        scale = rules.big_blind / own.big_blind
        fits = (
            (rules.num_players, rules.num_streets, rules.max_raises) == (2, own.num_streets, own.max_raises)
            and state.setup.first_street == 0
            and rules.small_blind == own.small_blind * scale
            and (rules.fixed_bets is None) == (own.fixed_bets is None)
        )
        if fits and rules.fixed_bets is not None and own.fixed_bets is not None:
            fits = list(rules.fixed_bets) == [bet * scale for bet in own.fixed_bets] and stack >= self.most * scale
        elif fits:
            fits = stack == self.most * scale
        if not fits:
            raise AgentError(
                f"{self._blueprint.path} is a blueprint of {self.game.title}: it plays that, or the same with all "
                f"chips scaled, not stacks of {stack:,} with blinds {rules.small_blind}/{rules.big_blind}"
            )
        return True

    def start(self) -> Position:
        return Position(self._betting.root, ())

    def betting(self, position: Position) -> BettingNode:
        return position.node

    def act(self, position: Position, action: int) -> Position:
        return position._replace(node=position.node.children[action])

    def deal(self, position: Position, cards: Sequence[int]) -> Position:
        return Position(position.node.children[0], (*position.board, *cards))

    def policy_at(self, position: Position) -> FloatArray:
        policy = self.policy.at(position.node.number)
        if self._purify:
            best = policy.argmax(axis=1)
            policy = np.eye(policy.shape[1])[best] * (policy.sum(axis=1, keepdims=True) > 0.0)
        return np.ascontiguousarray(policy[self._numbers_on(position.board)].T)

    def node_after(self, codes: Iterable[int]) -> BettingNode | None:
        """Returns the decision that some actions lead to, by their codes; None if one of them is not in the tree."""
        number = self._betting.root.number
        for code in codes:
            following = self.steps(number).get(code)
            if following is None:
                return None
            number = following
        return BettingNode(self._betting.root.tree, number)

    def steps(self, number: int) -> dict[int, int]:
        """Returns the actions of a decision by their codes, in the tree's order, and the node that each leads to."""
        if number not in self._steps:
            node, steps = BettingNode(self._betting.root.tree, number), {}
            for action, child in zip(node.actions, node.children, strict=True):
                while child.kind is NodeKind.NEXT_STREET:
                    child = child.children[0]
                steps[action_code(action)] = child.number
            self._steps[number] = steps
        return self._steps[number]

    def _numbers_on(self, board: tuple[int, ...]) -> npt.NDArray[np.int64]:
        return self._numbers.find_or_make(board, lambda: self._buckets.numbers(board))


class BlueprintAgent(TreeAgent[Position]):
    """Plays a blueprint; hands that never left its tree are answered at once, the others as `TreeAgent` does.

    Args:
        name: what it is called.
        tree: what it plays.
        otherwise: who answers where the blueprint has met nothing.
        translation: how bets that its menu lacks are taken.
    """

    hands_at_once = 64
    has_own_stacks = True

    def __init__(self, name: str, tree: BlueprintTree, otherwise: HandAgent, translation: Translation) -> None:
        super().__init__(name, tree, otherwise, translation)
        self.blueprint = tree

    def policy_at(self, state: HandState) -> HandPolicy:
        answer = self._on_tree(state.setup, [action_code(action) for action in state.actions], state.board)
        if answer is None:
            return super().policy_at(state)
        codes, probabilities = answer
        return HandPolicy(tuple(code_action(code) for code in codes), probabilities)

    def policies_at(self, hands: HandBatch, rows: npt.NDArray[np.int64]) -> BatchPolicy:
        answers: dict[int, tuple[Sequence[int], FloatArray]] = {}
        for place, row in enumerate(rows.tolist()):
            taken, board = hands.codes[row, : hands.num_actions[row]], hands.board[row, : hands.num_board[row]]
            answer = self._on_tree(hands.setup, taken.tolist(), tuple(board.tolist()))
            if answer is None:
                translated = super().policy_at(hands.state(row))
                answer = [action_code(action) for action in translated.actions], translated.probabilities
            answers[place] = answer
        width = max(len(codes) for codes, _ in answers.values())
        codes_of = np.full((len(rows), width), NO_CODE, np.int32)
        probabilities = np.zeros((len(rows), width, NUM_HANDS))
        for place, (codes, policy) in answers.items():
            codes_of[place, : len(codes)], probabilities[place, : len(codes)] = codes, policy
        return BatchPolicy(codes_of, probabilities)

    def _on_tree(
        self, setup: HandSetup, codes: list[int], board: tuple[int, ...]
    ) -> tuple[list[int], FloatArray] | None:
        """Returns the codes of the tree's actions and what each hand does; None if it is off the tree or not known."""
        node = self.blueprint.node_after(codes) if setup == self.blueprint.game.setup else None
        if node is None:
            return None
        policy = self.blueprint.policy_at(Position(node, board))
        if ((policy.sum(axis=0) <= 0.0) & ~blocked_hands(board)).any():
            return None
        return list(self.blueprint.steps(node.number)), policy


def blueprint_agent(
    file: Path | str | None = None,
    *,
    abstraction: Path | str | None = None,
    purify: bool = False,
    otherwise: HandAgent | None = None,
    translation: Translation = pseudo_harmonic,
) -> BlueprintAgent:
    """Returns the agent that plays a blueprint out of its file.

    Args:
        file: as `aleator train blueprint` or `aleator abstraction pack` writes it; None: that of the package.
        abstraction: its buckets; None: where they lay when it was trained.
        purify: whether only the likeliest action is played.
        otherwise: who plays where the blueprint has met nothing; `PotOddsAgent` if None.
        translation: how bets that its menu lacks are taken.

    Raises:
        StorageError: a file cannot be read, or is something else.
        AgentError: the buckets are not those of the blueprint, or none comes with the package.
    """
    try:
        tree = BlueprintTree(open_policy(file or shipped_blueprint(2), abstraction), purify=purify)
    except AbstractionError as error:
        raise AgentError(str(error)) from error
    return BlueprintAgent(
        "blueprint" if file is None else f"blueprint:{file}", tree, otherwise or PotOddsAgent(), translation
    )
