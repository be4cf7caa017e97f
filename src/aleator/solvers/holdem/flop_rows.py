"""What is known of the flops of a report: which they are, how much each counts, what is played there, and means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from aleator.games.holdem.cards import format_cards, parse_cards
from aleator.games.holdem.flops import Flop, Texture, canonical_flop, texture
from aleator.games.holdem.spot import SpotError

_CARDS = 3


class WeightedFlop(NamedTuple):
    """A flop and how much it counts; weights of a report sum to 1."""

    cards: tuple[int, ...]
    weight: float


def weighted(flops: Sequence[Flop]) -> tuple[WeightedFlop, ...]:
    """Returns flops that stand for as many as they are up to suits, such as all of them."""
    total = sum(flop.times for flop in flops)
    return tuple(WeightedFlop(flop.cards, flop.times / total) for flop in flops)


def named_flops(text: str) -> tuple[WeightedFlop, ...]:
    """Returns flops that a user lists, such as ``AsKd7h, 9s8s2d``, each of which counts by how often it is dealt.

    Commas, semicolons, ends of lines and spaces are between them; suits are kept, high cards come first.

    Raises:
        CardError, SpotError: a text that is not of flops, or a flop twice, up to suits.
    """
    flops: list[Flop] = []
    listed: list[tuple[int, ...]] = []
    for part in _parts(text):
        cards = parse_cards(part)
        if len(cards) != _CARDS:
            raise SpotError(f"a flop has three cards, not {len(cards)} ({part})")
        if canonical_flop(cards) in flops:
            raise SpotError(f"the flop {format_cards(cards)} comes twice, up to suits")
        flops.append(canonical_flop(cards))
        listed.append(tuple(sorted(cards, reverse=True)))
    return tuple(flop._replace(cards=cards) for flop, cards in zip(weighted(flops), listed, strict=True))


def _parts(text: str) -> list[str]:
    """Returns the texts of flops: spaces are between flops if each word is one, else between cards."""
    parts = [part.split() for part in re.split(r"[,;\n]", text) if part.strip()]
    if not parts:
        raise SpotError("no flops are named: list some, as in AsKd7h, 9s8s2d")
    return [
        flop
        for words in parts
        for flop in (words if all(len(word) == 2 * _CARDS for word in words) else [" ".join(words)])
    ]


class ActionShare(NamedTuple):
    """An action at a node: how often it is taken, and the mean EV in chips of the hands that take it."""

    token: str
    name: str
    frequency: float
    ev: float


class NodeRow(NamedTuple):
    """A node on a flop; EVs are in chips with the share of the pot, as in `HoldemView`.

    Attributes:
        reached: how likely the node is, given the flop.
        ev, equity: of both players' ranges there.
        actions: of who acts.
    """

    reached: float
    ev: tuple[float, float]
    equity: tuple[float, float]
    actions: tuple[ActionShare, ...]


class FlopRow(NamedTuple):
    """A flop that was solved.

    Attributes:
        cards: the flop.
        root: its first decision.
        node: the node that the report looks at; the root, if it names none.
        exploitability: reached, as a fraction of the pot.
        iterations, seconds: that it took.
    """

    cards: tuple[int, ...]
    root: NodeRow
    node: NodeRow
    exploitability: float
    iterations: int
    seconds: float

    @property
    def texture(self) -> Texture:
        """What the flop looks like."""
        return texture(self.cards)

    def to_dict(self) -> dict[str, Any]:
        """Returns it as JSON values, which `from_dict` reads."""
        document = self._asdict() | {"cards": format_cards(self.cards)}
        for name, node in (("root", self.root), ("node", self.node)):
            actions = [[action.token, action.name, action.frequency, _known(action.ev)] for action in node.actions]
            pairs = {key: [_known(value) for value in getattr(node, key)] for key in ("ev", "equity")}
            document[name] = {"reached": node.reached, **pairs, "actions": actions}
        return document

    @classmethod
    def from_dict(cls, document: dict[str, Any]) -> FlopRow:
        """Returns a row from JSON values; raises KeyError, TypeError or ValueError otherwise."""
        nodes = {}
        for name in ("root", "node"):
            node = document[name]
            actions = tuple(ActionShare(str(a), str(b), float(c), _number(d)) for a, b, c, d in node["actions"])
            pairs = {key: (_number(node[key][0]), _number(node[key][1])) for key in ("ev", "equity")}
            nodes[name] = NodeRow(reached=float(node["reached"]), actions=actions, **pairs)
        cards = parse_cards(document["cards"])
        numbers = float(document["exploitability"]), int(document["iterations"]), float(document["seconds"])
        return cls(cards, nodes["root"], nodes["node"], *numbers)


def _known(value: float) -> float | None:
    return value if value == value else None


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)


def mean_row(rows: Sequence[tuple[NodeRow, float]]) -> NodeRow:
    """Returns the mean of a node over flops of some chances: given that it is reached, as at one table over many deals.

    Rows where a player never gets to the node have no part in what happens there.
    """
    nan = float("nan")
    reached = sum(chance * row.reached for row, chance in rows) / sum(chance for _, chance in rows)
    inside = [(row, chance * row.reached) for row, chance in rows if chance * row.reached > 0]
    total = sum(weight for _, weight in inside)
    if not inside:
        empty = tuple(action._replace(frequency=nan, ev=nan) for action in rows[0][0].actions)
        return NodeRow(0.0, (nan, nan), (nan, nan), empty)

    def mean(values: Sequence[float], weights: Sequence[float]) -> float:
        known = [(value, weight) for value, weight in zip(values, weights, strict=True) if weight > 0]
        whole = sum(weight for _, weight in known)
        return sum(value * weight for value, weight in known) / whole if whole > 0 else nan

    weights = [weight for _, weight in inside]
    pairs = [
        [mean([getattr(row, name)[side] for row, _ in inside], weights) for side in (0, 1)] for name in ("ev", "equity")
    ]
    actions = []
    for index, action in enumerate(inside[0][0].actions):
        taken = [weight * row.actions[index].frequency for row, weight in inside]
        ev = mean([row.actions[index].ev for row, _ in inside], taken)
        actions.append(action._replace(frequency=sum(taken) / total, ev=ev))
    return NodeRow(reached, (pairs[0][0], pairs[0][1]), (pairs[1][0], pairs[1][1]), tuple(actions))
