"""ReBeL: networks of public belief states learn from the searches that use them.

`self_play` has the algorithm, `subgames` the subgames that it searches, `decisions` the policy network, `training` the
loop around them with its `replay` buffers and `learner`, `run` a whole run, and `evaluation` the policy that a search
with a network plays, for exact evaluation. In games of perfect information `perfect_information` evaluates. `model` has
trained networks in files, `shipped` those that come with the package, `network_value` asks one at the leaves of a
single subgame, for agents.
"""
