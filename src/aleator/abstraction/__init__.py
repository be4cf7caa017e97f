"""Smaller games that stand for larger ones, and the way between the two."""
