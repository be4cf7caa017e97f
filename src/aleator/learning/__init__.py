"""Learning: networks in place of tables, and how they are trained.

`rebel` has ReBeL's self-play on any game, `value_network` its networks of public belief states, `holdem` the same for
whole hands of no-limit hold'em, `sampled` the methods that sample histories: Deep CFR, NFSP, Double Neural CFR.
"""
