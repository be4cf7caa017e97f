"""Learning: value and policy functions of public belief states, and ReBeL's self-play.

`subgames` lists the subgames that can be searched, `encoding` turns public belief states into numbers, `networks` has the
networks, `replay` the buffer of examples, `rebel` self-play, `training` the loop around it, and `playing` the policy that
a search with a network plays, for exact evaluation.
"""
