"""Kernels on the sequence form of games of many players."""
