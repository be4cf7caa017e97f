"""ReBeL: networks of public belief states learn from the searches that use them.

`self_play` has the algorithm, `subgames` the subgames that it searches, `decisions` the policy network, `training` the
loop around them with its `replay` buffers and `learner`, `run` a whole run, and `evaluation` the policy that a search
with a network plays, for exact evaluation. In games of perfect information `perfect_information` evaluates.
"""
