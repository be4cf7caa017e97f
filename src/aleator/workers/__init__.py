"""Whoever does pieces of work: this process, processes beside it, or a Ray cluster.

Work is a *task* after the other, each of which says all that its result depends on: so results do not depend on who
did what, and what a worker that died was doing is done again by another. What many tasks share, such as the parameters
of a network, is published once for all of them.
"""
