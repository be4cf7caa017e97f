"""Pluribus' search in hold'em of several players: rounds as arrays, deals from beliefs, linear Monte Carlo CFR."""
