"""Learning: value and policy functions of public belief states, and ReBeL's self-play.

`value_network` has the networks and what they are asked, `subgames` the subgames that are searched, `replay` the buffer
of examples, `rebel` self-play, `training` the loop around it, `run` a whole run, and `evaluation` the policy that a
search with a network plays, for exact evaluation.
"""
