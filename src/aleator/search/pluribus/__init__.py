"""Pluribus' search: `ring` in whole hands of several players, `two_players` on public trees, and `small_games` on the
sequence form of games of several players, where it can be measured exactly.
"""
