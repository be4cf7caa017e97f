"""Blueprints: policies of whole games in an abstraction, found by sampling hands.

`betting` is the betting of a menu as arrays, `deals` deals hands and looks up their buckets, `walk` follows them
through the betting, `training` ties these together with threads and checkpoints, `file` is what is kept and played,
`duel` compares two of them.
"""
