"""How nodes of solved hold'em spots look in a terminal: the grid of 169 hand classes, tables of hands."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from rich.style import Style
from rich.text import Text

from aleator.apps.cli.output import heading, out, print_table
from aleator.games.holdem.bet_menu import POSITION_NAMES
from aleator.games.holdem.betting import Action, ActionKind
from aleator.games.holdem.betting_tree import BettingNode, action_name
from aleator.games.holdem.cards import HAND_CLASS_NAMES, HAND_CLASSES, NUM_HAND_CLASSES, format_cards, format_hand
from aleator.solvers.holdem.view import NodeView

Rgb = tuple[int, int, int]
FOLD_COLOUR: Rgb = (40, 90, 200)
CALL_COLOUR: Rgb = (0, 140, 60)
BET_COLOURS: tuple[Rgb, ...] = ((225, 120, 60), (215, 50, 40), (150, 0, 20), (120, 0, 90), (80, 0, 120))
CELL = 5


def action_marks(node: BettingNode) -> list[str]:
    """Returns one character per action: f, x for a check, c for a call, 1, 2, ... for bets and raises."""
    return marks_of(node.actions, owes=node.chips[0] != node.chips[1])


def marks_of(actions: Sequence[Action], *, owes: bool) -> list[str]:
    """Returns one character per action of a player who owes chips or not; see `action_marks`."""
    marks, bets = [], 0
    for action in actions:
        if action.kind is ActionKind.RAISE:
            bets += 1
            marks.append(str(bets))
        elif action.kind is ActionKind.FOLD:
            marks.append("f")
        else:
            marks.append("c" if owes else "x")
    return marks


def action_colours(actions: Sequence[Action]) -> list[Rgb]:
    """Returns the colour of each action: folds blue, checks and calls green, bets red, the larger the darker."""
    colours, bets = [], 0
    for action in actions:
        if action.kind is ActionKind.RAISE:
            colours.append(BET_COLOURS[min(bets, len(BET_COLOURS) - 1)])
            bets += 1
        else:
            colours.append(FOLD_COLOUR if action.kind is ActionKind.FOLD else CALL_COLOUR)
    return colours


def print_node(view: NodeView, player: int, stack: int) -> None:
    """Prints a node: where it is, what both hold, how often each action is taken, and the grid."""
    to_act = f"{POSITION_NAMES[view.player]} to act" if view.player >= 0 else "nobody to act"
    title = heading(str(view.path), f"   board {format_cards(view.board)}   pot {view.pot:,}   {to_act}")
    out.print(title, soft_wrap=True)
    for side, position in enumerate(POSITION_NAMES):
        ev, equity = view.mean(side, view.evs[side]), view.mean(side, view.equities[side])
        ev_text = "-" if np.isnan(ev) else f"{ev:,.1f}"
        equity_text = "-" if np.isnan(equity) else f"{100 * equity:.1f} %"
        realised = view.mean_realised(side)
        realised_text = "-" if np.isnan(realised) else f"{100 * realised:.0f} %"
        hands = view.weights[side].sum()
        out.print(f"{position:3} {hands:8,.1f} hands   EV {ev_text}   equity {equity_text}, realised {realised_text}")
    if player == view.player:
        _print_legend(view, stack)
    else:
        out.print(f"below each class: how many of 100 of its hands {POSITION_NAMES[player]} holds here")
    _print_grid(view, player)


def _print_legend(view: NodeView, stack: int) -> None:
    names = [action_name(view.node, index, stack) for index in range(len(view.policy))]
    print_legend(names, view.frequencies, action_colours(view.node.actions), action_marks(view.node))


def print_legend(names: Sequence[str], shares: Sequence[float], colours: list[Rgb], marks: list[str]) -> None:
    """Prints the actions of a decision and how often each is taken."""
    line = Text()
    for name, share, colour, mark in zip(names, shares, colours, marks, strict=True):
        shown = "-" if np.isnan(share) else f"{100 * share:.1f} %"
        entry = Text.assemble((f" {mark} ", _style(colour)), f" {name} {shown}   ")
        if line and len(line) + len(entry.plain.rstrip()) > out.width:
            out.print(line, soft_wrap=True)
            line = Text()
        line.append_text(entry)
    out.print(line, soft_wrap=True)


def _print_grid(view: NodeView, player: int) -> None:
    weight, mix = view.classes(player)
    print_classes(weight, mix, action_colours(view.node.actions), action_marks(view.node))


def print_classes(
    weight: npt.NDArray[np.float64], mix: npt.NDArray[np.float64], colours: list[Rgb], marks: list[str]
) -> None:
    """Prints the grid of hand classes.

    Args:
        weight: how many hands of each class there are, ``[169]``.
        mix: how often each action is taken, ``[A, 169]``; no rows to print how much of each class there is.
        colours, marks: of the actions.
    """
    most = weight / np.bincount(HAND_CLASSES, minlength=NUM_HAND_CLASSES)
    for row in range(13):
        names, below = Text(), Text()
        for column in range(13):
            index = 13 * row + column
            name = f"{HAND_CLASS_NAMES[index]:{CELL}}"
            if not weight[index] > 0:
                names.append(name, Style(dim=True))
                below.append(" " * CELL)
            elif len(mix):
                names.append(_segments(name, mix[:, index], colours))
                main = int(mix[:, index].argmax())
                below.append(f"{marks[main]}:{100 * mix[main, index]:<{CELL - 2}.0f}", Style(dim=True))
            else:
                names.append(name, _style(CALL_COLOUR))
                below.append(f"{100 * most[index]:<{CELL}.0f}", Style(dim=True))
            names.append(" ")
            below.append(" ")
        out.print(names)
        out.print(below)


def _segments(name: str, shares: npt.NDArray[np.float64], colours: list[Rgb]) -> Text:
    """Returns a name on a background that is split among the colours like the shares."""
    text = Text()
    bounds = np.rint(np.cumsum(shares) * len(name)).astype(int)
    start = 0
    for end, colour in zip(bounds, colours, strict=True):
        text.append(name[start:end], _style(colour))
        start = max(start, int(end))
    return text


def _style(colour: Rgb) -> Style:
    red, green, blue = colour
    return Style(color="white", bgcolor=f"rgb({red},{green},{blue})")


def print_hands(view: NodeView, player: int, chosen: npt.NDArray[np.bool_], stack: int) -> None:
    """Prints a table of single hands: weight, policy, EV of each action, EV, equity and realised equity."""
    acting, realised = player == view.player, view.realised[player]
    names = [action_name(view.node, index, stack) for index in range(len(view.policy))] if acting else []
    rows = []
    for hand in np.flatnonzero(chosen & (view.weights[player] > 0))[::-1]:
        row = [format_hand(int(hand)), f"{view.weights[player][hand]:.3f}"]
        for index in range(len(names)):
            ev = view.action_evs[index, hand] if len(view.action_evs) else np.nan
            row.append(f"{100 * view.policy[index, hand]:.0f} %" + ("" if np.isnan(ev) else f" {ev:,.0f}"))
        ev, equity = view.evs[player][hand], view.equities[player][hand]
        row.append("-" if np.isnan(ev) else f"{ev:,.1f}")
        row.append("-" if np.isnan(equity) else f"{100 * equity:.1f} %")
        row.append("-" if np.isnan(realised[hand]) else f"{100 * realised[hand]:.0f} %")
        rows.append(row)
    title = f"{POSITION_NAMES[player]} at {view.path}" + (": how often and the EV of each action" if names else "")
    print_table(title, ["hand", "weight", *names, "EV", "equity", "realised"], rows)
