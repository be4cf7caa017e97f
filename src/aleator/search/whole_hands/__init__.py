"""Search in whole hands of hold'em: from a decision to the end of its betting round or of the hand.

`rounds` has what is solved and what comes back, `exact` solves rivers and turns to the end of the hand by the engine of
boards, `depth_limited` solves to the end of the round with values at leaves.
"""
