"""What several engines share: SIMD vectors for Numba, dense tiles, aligned memory."""
