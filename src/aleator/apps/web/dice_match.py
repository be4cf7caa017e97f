"""Matches of Liar's Dice: who loses a round loses a die, and who has none left loses the match.

A round ends in one of two ways, so that whoever plays an equilibrium of every round plays one of the match: only which
of the two happens matters, not what each is worth. The loser begins the next round. A match is a JSON value in the
state of a session; a round is a game of the library, such as `liars-dice:2+1x4`.
"""

from __future__ import annotations

from typing import Any

PREFIX = "dice-match:"


def begin(game: str) -> dict[str, Any] | None:
    """Returns the match that a name such as `dice-match:2x4` stands for; None for any other game."""
    if not game.startswith(PREFIX):
        return None
    dice, faces = (int(number) for number in game.removeprefix(PREFIX).split("x"))
    return {"start": dice, "faces": faces, "dice": [dice, dice], "first": 0, "won": [0, 0], "playing": ""}


def next_round(match: dict[str, Any]) -> None:
    """Sets up the next round: whose turn it is to begin, and which game it is."""
    if 0 in match["dice"]:
        match["dice"] = [match["start"]] * 2
    first, second = match["dice"][match["first"]], match["dice"][1 - match["first"]]
    counts = str(first) if first == second else f"{first}+{second}"
    match["playing"] = f"liars-dice:{counts}x{match['faces']}"


def end_round(match: dict[str, Any], *, won: bool) -> None:
    """Takes a die from who lost; `won` says whether that is the agent (place 1) and not the player (place 0)."""
    loser = int(won)
    match["dice"][loser] -= 1
    match["first"] = loser
    if not match["dice"][loser]:
        match["won"][1 - loser] += 1


def game_of(state: dict[str, Any]) -> str:
    """Returns the game that a session is at: that of its round, or the session's own."""
    match = state.get("match")
    return str(match["playing"] if match else state["game"])
