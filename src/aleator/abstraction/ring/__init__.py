"""Blueprints of hold'em for three and more players, by Pluribus' linear Monte Carlo CFR."""
