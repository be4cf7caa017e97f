"""The batched engine: the walk over a public tree for many subgames at once, on a CPU or a GPU.

`shapes` describes the trees that have been met, `forest` lays many subgames out in rows, `operators` evaluates their
ends and their deals, `walk` has the steps of an update in plain torch, `triton_walk` the same steps as fused kernels,
and `engine` runs them.
"""
