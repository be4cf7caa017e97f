"""Value networks of public belief states: the networks, and their backends at the leaves of searches.

`encoding` turns public belief states into inputs, `networks` has the networks. At leaves of the batched engine a
network is asked by one of `torch_leaves` (plain, any device), `triton_leaves` (CUDA; kernels in `triton_kernels`) and
`numba_leaves` (CPU; `numba_network`, kernels in `numba_kernels`); `leaf_values` picks the fastest.
"""
