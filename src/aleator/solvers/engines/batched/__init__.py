"""The batched engine: the walk over a public tree for many subgames at once, on a CPU or a GPU.

`shapes` describes the trees, `forest` lays many subgames out in rows, `walk` has the steps of an iteration in plain torch,
`triton_walk` the same steps as fused kernels, and `engine` runs them.
"""
