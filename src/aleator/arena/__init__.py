"""The arena: agents play each other, and the result says how sure it is."""

from aleator.arena.luck import HandValues
from aleator.arena.match import MatchResult, MoveTimes, Score, exact_match, play_match

__all__ = ["HandValues", "MatchResult", "MoveTimes", "Score", "exact_match", "play_match"]
