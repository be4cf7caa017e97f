"""The arena: agents play each other, and the result says how sure it is."""

from aleator.arena.aivat import Aivat
from aleator.arena.match import MatchResult, MoveTimes, Score, exact_match, play_match

__all__ = ["Aivat", "MatchResult", "MoveTimes", "Score", "exact_match", "play_match"]
