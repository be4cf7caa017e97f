"""AIVAT: what agents of whole hands won, without luck (`aleator.arena.luck`).

`heads_up` is for two players, `table` for any number. `hand_value` says what public states are worth, from which luck
is measured; `network_value` and `blueprint_value` are better at it. `playout` is exact on the last street.
`table_ranges` averages over all hands that players might have held, `table_gain` goes by a blueprint's own values.
"""
