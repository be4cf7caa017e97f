"""Neural methods that sample histories: thousands of games in lockstep, networks in place of tables.

`play` is the protocol of sampled play and its adapter for public trees, `encoding` what networks are told about
infostates, `traversal` external, robust and outcome sampling with any policy.
"""
