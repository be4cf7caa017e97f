"""Solvers: a public tree and a configuration in, a policy out."""
