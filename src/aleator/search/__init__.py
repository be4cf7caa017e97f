"""Solving at play time: subgames of a blueprint, gadgets, leaf values, nested and continual re-solving."""
