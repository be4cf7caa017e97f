"""The engine for trees whose chance is public cards: the same walk, board by board.

The betting below a board has the same shape on every board of a street. So the shape is kept once per street
(`forest`), only regrets and sums of policies are kept per board, and reach and values live in scratch rows that are
used again for the next board and stay in the cache. Payoffs are not matrices but scans over hands sorted by strength
(`showdown`).
"""
