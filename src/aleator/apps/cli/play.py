"""`aleator play`: play a game against an agent in the terminal."""

from __future__ import annotations

from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from aleator.agents.asking import ask_action, ask_policy
from aleator.agents.base import Agent
from aleator.agents.human import HumanAgent
from aleator.agents.registry import known_agents, load_agent, spot_to_solve
from aleator.apps.cli.output import note, number, out, print_json, print_table, progress_bar
from aleator.apps.cli.stopping import end
from aleator.errors import AgentError
from aleator.games.base import CHANCE, FloatArray, Game
from aleator.games.holdem.variants import is_hand_game
from aleator.games.registry import load_game
from aleator.games.rules import rules_of
from aleator.games.table import Observation, Table
from aleator.parsing import MAX_SEED
from aleator.solvers.limits import Progress

_SHOWN = 5  # hands in a line about beliefs
_MANY = 100_000  # public states of a spot that take their time
_AGENTS = ", ".join(known.family for known in known_agents()) + " or a file with a solution"


class Turn(NamedTuple):
    """A turn of the agent, as it is revealed afterwards.

    Attributes:
        observation: what it saw.
        belief: [H] how likely it held each of your hands to be, given its own; None if it had no beliefs.
        probabilities: [A] of its actions with its hand.
        action: what it did.
    """

    observation: Observation
    belief: FloatArray | None
    probabilities: FloatArray
    action: int


class _Quit(Exception):  # noqa: N818
    """The player has had enough."""


def run(
    game: Annotated[str, typer.Argument(help="A game, as listed by `aleator games`.")],
    agent: Annotated[str | None, typer.Option(help=f"Your opponent: {_AGENTS}; `aleator agents` says more. Default: "
                                              "equilibrium; in whole hands tight-aggressive.")] = None,
    seat: Annotated[int | None, typer.Option(min=0, max=9, help="Your seat: 0 is first; drawn by default.")] = None,
    deals: Annotated[int | None, typer.Option("--deals", "--hands", min=1, help="How many; default: endless.")] = None,
    you: Annotated[str | None, typer.Option(help="An agent that plays your seat for you.")] = None,
    seed: Annotated[int | None, typer.Option(min=0, max=MAX_SEED, help="Seed of deals and draws.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON; needs --you.")] = False,
) -> None:  # fmt: skip
    """Play a game against an agent. After each deal you see what it held, believed and considered.

    Examples:  aleator play liars-dice:1x6  |  aleator play leduc --agent search --seat 1
      |  aleator play kuhn --you uniform  |  aleator play hunl --agent tight-aggressive  |  aleator play 6max
    """
    if is_hand_game(game):
        from aleator.apps.cli.play_hands import play_hands_in_terminal

        play_hands_in_terminal(game, agent or "tight-aggressive", seat=seat, hands=deals, you=you, seed=seed, json=json)
        return
    rules = load_game(game)
    if seat is not None and seat > 1:
        raise AgentError(f"{game} has seats 0 and 1, not {seat}")
    if json and you is None:
        raise AgentError("--json needs --you: nobody can be asked in JSON")
    opponent = load_with_progress(agent or "equilibrium", rules, quiet=json)
    mine = (
        HumanAgent(rules, lambda seen: _ask(rules, seen)) if you is None else load_with_progress(you, rules, quiet=json)
    )
    rng, won = np.random.default_rng(seed), 0.0
    played: list[dict[str, Any]] = []
    count = deals if deals is not None or you is None else 1
    try:
        while count is None or len(played) < count:
            sits = int(rng.integers(2)) if seat is None else seat
            if not json:
                _announce(rules, len(played) + 1, sits, opponent)
                if you is None and not played:
                    out.print("  ? shows the rules, q quits", style="dim")
            table, turns = _play(rules, mine, opponent, sits, rng, quiet=json)
            won += table.payoff(sits)
            played.append(_record(table, sits, turns))
            if not json:
                _reveal(table, sits, turns)
                out.print(f"{_result(table.payoff(sits))}; {number(won)} in {_deals(played)}.\n", style="bold")
    except (_Quit, EOFError, KeyboardInterrupt) as reason:
        if not json:
            out.print(f"\n{_result(won)} in {_deals(played)}. Goodbye." if played else "\nGoodbye.")
        end(stopped=isinstance(reason, KeyboardInterrupt))
    if json:
        print_json({"game": rules.name, "agent": opponent.name, "you": mine.name, "won": won, "deals": played})


def _result(won: float) -> str:
    return "You broke even" if not won else f"You {'won' if won > 0 else 'lost'} {number(abs(won))}"


def _deals(played: list[dict[str, Any]]) -> str:
    return f"{len(played)} deal" + "s" * (len(played) != 1)


def load_with_progress(name: str, game: Game[Any], *, quiet: bool) -> Agent:
    """Returns an agent; shows how far it is with solving if it has to, and says so before if that takes long."""
    size = spot_to_solve(name, game)
    if size and size.public_states > _MANY and not quiet:
        note(
            f"{size.public_states:,} public states, every card apart: {name} takes minutes to prepare, and about "
            f"{size.memory / 2**30:.0f} GiB of memory"
        )
    with progress_bar(f"{name} prepares", quiet=quiet) as move:

        def show(progress: Progress) -> None:
            move(None, f"iteration {progress.iteration:,}, exploitability {progress.exploitability:.2e}")

        return load_agent(name, game, on_progress=show)


def _play(
    game: Game[Any], mine: Agent, opponent: Agent, seat: int, rng: np.random.Generator, *, quiet: bool
) -> tuple[Table, list[Turn]]:
    """Returns the table after a deal, and the agent's turns."""
    table, turns, shown = Table(game, rng), list[Turn](), 0
    said = dict[int, str]()  # in words that both may hear, by the number of the event
    mine.begin(seat, rng)
    opponent.begin(1 - seat, rng)
    if not quiet and _has_hands(table):
        out.print(Text(f"  you hold {game.hands(table.state, seat)[table.hands[seat]]}"))
    while True:
        if not quiet:
            _show_events(table, shown, seat, said)
            shown = len(table.events)
            if (picture := game.picture(table.state)) and (table.is_over or table.actor == seat):
                lines = _personal(picture, seat).rstrip().splitlines()
                out.print(Text("\n".join(f"    {line}" for line in lines)))
        if table.is_over:
            return table, turns
        seen = table.observe()
        if seen.seat == seat:
            action = mine.act(seen) if isinstance(mine, HumanAgent) else ask_action(mine, seen)
        else:
            with progress_bar(f"{opponent.name} thinks", quiet=quiet):
                belief = opponent.belief(seen.history)
                chances = ask_policy(opponent, seen.history)[:, seen.hand]
            given = None if belief is None else belief.as_seen_by(seen.seat, seen.hand)
            action = ask_action(opponent, seen)
            turns.append(Turn(seen, given, chances, action))
        table.act(action)
        printed = len(seen.events)  # cards may have been dealt since
        said[printed] = _in_words(game, seen, action, table.events[printed], own=seen.seat == seat)


def _has_hands(table: Table) -> bool:
    """Returns whether there is anything that a player knows alone."""
    return max(table.game.num_hands(table.state)) > 1


def _announce(game: Game[Any], count: int, seat: int, opponent: Agent) -> None:
    turn = ("first", "second")[seat]
    out.print(
        Rule(Text(f"deal {count}: {game.name}, you are {turn}, against {opponent.name}", style="bold"), align="left")
    )


def _in_words(game: Game[Any], seen: Observation, action: int, event: int, *, own: bool) -> str:
    """Returns what you may hear of an action: its name if it is public or yours, else what everybody saw of it."""
    child, hands = game.children(seen.state)[event], range(game.num_hands(seen.state)[seen.seat])
    name = game.action_name(seen.state, seen.hand, action)
    if child.origin[seen.seat] is None and all(game.action_name(seen.state, hand, action) == name for hand in hands):
        return name
    return f"{name} ({child.label})" if own and name != child.label else child.label


def _show_events(table: Table, shown: int, seat: int, said: dict[int, str]) -> None:
    """Prints what happened since the last look, and who did it."""
    for index in range(shown, len(table.events)):
        who = {CHANCE: "chance", seat: "you"}.get(table.game.actor(table.past_states[index]), "agent")
        out.print(Text(f"  {who + ':':<8}{_personal(said.get(index, table.labels[index]), seat)}"))


def _personal(text: str, seat: int) -> str:
    """Returns a text with you and the agent for the players' numbers."""
    text = text.replace(f"player {seat} wins", "you win").replace(f"player {1 - seat} wins", "the agent wins")
    return text.replace(f"player {seat}", "you").replace(f"player {1 - seat}", "the agent")


def _ask(game: Game[Any], seen: Observation) -> int:
    """Returns the action that somebody at the terminal chooses, by its name or number."""
    names = {action: game.action_name(seen.state, seen.hand, action) for action in seen.legal}
    numbered = not any(name.isdecimal() for name in names.values())  # a bid of 2 is not the choice with the number 2
    hands = game.hands(seen.state, seen.seat)
    hand = f"your hand: {hands[seen.hand]}   " if len(hands) > 1 else ""
    choices = [f"{action} {name}" if numbered else name for action, name in names.items()]
    _list(f"  {hand}your choice:", choices)
    while True:
        answer = out.input("  > ").strip().lower()
        if answer in ("q", "quit", "exit"):
            raise _Quit
        exact = [action for action, name in names.items() if answer in (numbered and str(action), name.lower())]
        begun = [action for action, name in names.items() if answer and name.lower().startswith(answer)]
        if exact or len(begun) == 1:
            return (exact or begun)[0]
        if answer in ("?", "help", "rules"):
            out.print(Padding(Text(rules_of(game)), (0, 2)))
        if answer in ("", "?", "help", "rules"):
            _list(f"  {hand}your choice:", choices)
            continue
        out.print(f"  {answer!r} is not one of the actions; ? shows the rules, q quits", style="yellow")


def _list(title: str, entries: list[str]) -> None:
    """Prints entries behind a title, as many on a line as fit; none is broken."""
    line = Text(title, "dim")
    for entry in entries:
        if line.cell_len + 3 + len(entry) > out.width:
            out.print(line)
            line = Text(" " * 4)
        line.append(f"   {entry}", "not dim")
    out.print(line)


def _reveal(table: Table, seat: int, turns: list[Turn]) -> None:
    """Prints both hands, and for each turn of the agent what it believed and how likely its actions were."""
    game = table.game
    hidden = _has_hands(table)
    if hidden:
        held, yours = (game.hands(table.state, player)[table.hands[player]] for player in (1 - seat, seat))
        out.print(Text(f"  the agent held {held}, you {yours}"))
    if not turns:
        return
    rows: list[tuple[str, ...]] = []
    for turn in turns:
        names = game.hands(turn.observation.state, seat)
        believed = "-" if turn.belief is None or len(names) == 1 else _likeliest(names, turn.belief)
        actions = [
            game.action_name(turn.observation.state, turn.observation.hand, k) for k in range(len(turn.probabilities))
        ]
        rows.append((actions[turn.action], believed, _likeliest(actions, turn.probabilities)))
    believes = hidden and any(turn.belief is not None for turn in turns)
    shown = slice(None, None, 1 if believes else 2)
    columns = ("the agent did", "it believed you hold", "its chances were")[shown]
    print_table("", columns, [row[shown] for row in rows])


def _likeliest(names: Any, chances: FloatArray) -> str:
    """Returns the likeliest of some things with their probabilities, in words."""
    order = [int(k) for k in np.argsort(-chances, kind="stable") if chances[k] >= 0.005]
    rest = f", {len(order) - _SHOWN} more" if len(order) > _SHOWN else ""
    return ", ".join(f"{names[k]} {chances[k]:.0%}" for k in order[:_SHOWN]) + rest


def _record(table: Table, seat: int, turns: list[Turn]) -> dict[str, Any]:
    """Returns a deal as JSON values."""
    game = table.game
    return {
        "seat": seat,
        "hands": [game.hands(table.state, player)[table.hands[player]] for player in (0, 1)],
        "events": table.labels,
        "won": table.payoff(seat),
        "turns": [
            {
                "after": len(turn.observation.events),
                "action": game.action_name(turn.observation.state, turn.observation.hand, turn.action),
                "probabilities": turn.probabilities.tolist(),
                "belief": None if turn.belief is None else turn.belief.tolist(),
            }
            for turn in turns
        ],
    }
