"""Thousands of hold'em betting rounds at once, on a CPU or a GPU.

`shapes` has the betting, `order` what a board means for hands, `payoffs` folds and showdowns, `plain` the iterations in
plain torch operations, `source` and `fused` the same as one CUDA kernel per betting shape, compiled by `nvrtc` when it
is first used.
"""
