"""Aleator finds and plays equilibria of games with hidden information."""

__version__ = "0.1.0"
