"""Main pot, side pots, and who wins how many of their chips."""

from collections.abc import Sequence
from typing import NamedTuple


class Pot(NamedTuple):
    """Chips and the players who can win them, in their order."""

    amount: int
    players: tuple[int, ...]


def side_pots(contributions: Sequence[int], live_players: Sequence[int], *, dead: int = 0) -> tuple[Pot, ...]:
    """Returns the main pot and the side pots, the main pot first.

    Levels that the same players can win form one pot. An uncalled bet is a last pot with one player.

    Args:
        contributions: chips put in by each player, ``[P]``.
        live_players: the players who have not folded.
        dead: further chips, of the main pot.
    """
    pots: list[Pot] = []
    below, amount = 0, dead
    for level in sorted(set(contributions)):
        amount += sum(min(chips, level) - min(chips, below) for chips in contributions)
        players = tuple(player for player in live_players if contributions[player] >= level)
        if pots and (pots[-1].players == players or not players):
            amount, players = amount + pots[-1].amount, pots[-1].players
            pots.pop()
        if amount:
            pots.append(Pot(amount, players))
        below, amount = level, 0
    return tuple(pots)


def winnings(pots: Sequence[Pot], strengths: Sequence[Sequence[float]]) -> tuple[int, ...]:
    """Returns the chips that each player takes out of ``pots``, ``[P]``.

    Each pot is split equally between the boards and then between the strongest of its players. What is left over goes
    to the first board and to the first of the winners.

    Args:
        pots: chips and who can win them.
        strengths: ``[boards, P]``, a larger one wins and equal ones tie; only those of a pot's players are read.
    """
    won = [0] * len(strengths[0])
    for pot in pots:
        for board, board_amount in zip(strengths, _split(pot.amount, len(strengths)), strict=True):
            best = max(board[player] for player in pot.players)
            winners = [player for player in pot.players if board[player] == best]
            for player, amount in zip(winners, _split(board_amount, len(winners)), strict=True):
                won[player] += amount
    return tuple(won)


def _split(amount: int, parts: int) -> list[int]:
    """Returns ``amount`` in equal parts, what is left over added to the first."""
    share, rest = divmod(amount, parts)
    return [share + rest] + [share] * (parts - 1)
