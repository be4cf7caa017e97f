"""Solving and evaluating games of many players on their sequence form."""
