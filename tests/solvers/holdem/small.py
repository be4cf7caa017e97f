"""A spot on the flop that is solved in a moment."""

FLOP_SPOT = """
board = "Ks 7s 2d"
pot = 20
stack = 30
oop = "AA,KQs,76s,99:0.5"
ip = "QQ,JTs,AKs,55"
[flop.oop]
bet = ["100%"]
[flop.ip]
bet = ["100%"]
[solve]
target = 0.02
max_iterations = 40
"""
