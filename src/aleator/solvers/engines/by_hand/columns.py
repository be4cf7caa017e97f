"""The names of the columns, rows and entries of the arrays that a walk hand by hand reads and writes."""

from __future__ import annotations

# columns of `Shape.nodes`
ACTOR, PARENT, FIRST_CHILD, NUM_CHILDREN, NUM_ACTIONS, BLOCK = range(6)
# columns of `HandSide.nodes`
HANDS, ROW, PAYOFFS, DEALS, PLAIN, STATES = range(6)
# columns of `Shape.deals`
FIRST_PAIR, LAST_PAIR, LISTED = range(3)
# columns of `HandSide.places`
LEGAL, INFOSTATE, NODE = range(3)

# columns of `HandMemory.places`: a row is a cache line
REGRET = 0  # as of iteration SEEN
POLICY = 1  # the current policy
CFV = 2  # scratch: cfv of the action in this walk
AVERAGE = 3  # sum over iterations of the player's reach after the action, in the weights of the average policy
FACED = 4  # the same in the weights of the opponent's regrets
DIRECT = 5  # weighted sum of cfvs of terminals before the player's next infostate
DIRECT_NOW = 6  # scratch: what DIRECT becomes
HIGHEST = 7  # U(I, a)
PLACE_COLUMNS = 8

# columns of `HandMemory.starts`
VALUE_START = 0  # VALUE_SUM of the infostate when pruning began
REACH_START = 1  # REACH_SUM of the infostate when pruning began
NEXT_LOOK = 2  # the iteration before which best-response pruning need not look at the action again

# columns of `HandMemory.sums`
AVERAGE_MARK = 0  # AVERAGE above the infostate when it was last visited
FACED_MARK = 1
VALUE_SUM = 2  # weighted sum of the infostate's cfvs
REACH_SUM = 3  # weighted sum of its cf_reach
MEAN = 4  # of its cfv over all iterations up to SEEN
DEVIATION = 5  # sum of squared deviations from the mean
SEEN = 6  # the iteration up to which regrets are discounted
SUM_COLUMNS = 7

# columns of `HandMemory.marks`
PRUNED = 0
NESTED = 1  # how many places below are pruned
DISCARDED = 2  # whether the sums of policies below have been thrown away, too

# rows of `HandMemory.lists` and columns of `Work.lists`
DUE = 0  # pruned places whose time is over
STARTING = 1  # places that can be pruned from now on

# entries of `Work.counts`
TOUCHED = 0
VISITED = 1
WALK = 2
OVERHEAD = 3
