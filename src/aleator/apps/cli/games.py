"""`aleator games`: what can be solved, with sizes."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from aleator.apps.cli.output import out, print_json, print_table
from aleator.games.holdem.variants import is_hand_game, known_hand_games, load_hand_game
from aleator.games.multiplayer.contract import check_multiplayer_game
from aleator.games.multiplayer.registry import is_multiplayer, known_multiplayer_games, load_multiplayer_game
from aleator.games.registry import known_games, load_game
from aleator.games.rules import rules_of, rules_of_hands
from aleator.games.size import measure


def run(
    name: Annotated[str | None, typer.Argument(help="One game, to see its rules and sizes.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """List the games and their sizes; for one game, show its rules as well.

    Histories count pairs of hands over the nodes of the public tree, infostates the hands of the player to act. Games
    are taken up to symmetry: Leduc's suits and the order of a player's dice do not count. In games of many
    players all histories count, moves of chance included, and public states are those where somebody moves.

    Examples:  aleator games  |  aleator games leduc:5  |  aleator games kuhn:players=3  |  aleator games hunl  |
    aleator games liars-dice:2x3 --json
    """
    if name and is_hand_game(name):
        _show_hand_game(name, json=json)
        return
    rows = _many_players(name)
    for known in () if rows else known_games():
        for example in [name] if name else known.examples:
            if name and name.partition(":")[0] != known.family:
                continue
            game = load_game(example)
            size = measure(game)
            row = {"game": example, "summary": known.summary, "usage": known.usage, "rules": rules_of(game)}
            rows.append(row | size._asdict())
    if name and not rows:
        load_game(name)  # raises the error that lists the names
    if json:
        print_json(rows)
        return
    print_table(
        "",
        ("game", "public states", "histories", "infostates", "what it is"),
        [
            (
                row["game"],
                f"{row['public_states']:,}",
                f"{row['histories']:,}",
                f"{row['infostates']:,}",
                row["summary"],
            )
            for row in rows
        ],
    )
    if name:
        out.print(rows[0]["rules"])
    else:
        out.print("Names: " + ", ".join(known.usage for known in known_games()))
        usages = ", ".join(known.usage for known in known_multiplayer_games())
        out.print(f"Many players, for solve and evaluate: {usages}")
        out.print(
            "Whole hands, for match, lbr and play: " + ", ".join((*known_hand_games(), "ring:N", "spot:FILE.toml"))
        )


def _many_players(name: str | None) -> list[dict[str, Any]]:
    """Returns the row of a game of many players; none if the name is of another game."""
    if name is None or not is_multiplayer(name):
        return []
    game = load_multiplayer_game(name)
    family = name.partition(":")[0]
    known = next(known for known in known_multiplayer_games() if known.family == family)
    size = check_multiplayer_game(game, twice=False)
    row = {"game": name, "players": game.num_players, "summary": known.summary, "usage": known.usage}
    return [row | {"rules": game.rules()} | size._asdict()]


def _show_hand_game(name: str, *, json: bool) -> None:
    """Prints a game of whole hands; it is played hand by hand, and nobody counts its states."""
    variant = load_hand_game(name)
    rules = variant.rules
    facts: dict[str, Any] = {
        "game": name,
        "summary": variant.title,
        "players": rules.num_players,
        "small_blind": rules.small_blind,
        "big_blind": rules.big_blind,
        "stack": variant.stack,
        "pot": variant.pot,
        "betting": "no-limit" if rules.fixed_bets is None else "limit",
        "rules": rules_of_hands(variant),
    }
    if json:
        print_json([facts])
        return
    out.print(f"{name}: {variant.title}\n\n{facts['rules']}\n")
    out.print("Whole hands, for match, lbr and play." if rules.num_players == 2 else "Whole hands, for match.")
