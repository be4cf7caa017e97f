"""Experiments of the papers, run anew: each prints the paper's numbers beside ours."""
