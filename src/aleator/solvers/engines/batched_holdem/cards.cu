// Reach goes down to the boards that a card makes, cfvs come back. A block has one row of hands to write: those of one
// board and one end of the betting before the card.
//
// Given: THREADS, LEAVES (ends of the betting), BEFORE and AFTER (hands of a board before and after the card).

// reach[b, l, h] = leaves[parent of b, l, place of h there]; hands that are not there have place BEFORE.
extern "C" __global__ void __launch_bounds__(THREADS) deal(
    const int* parent, const int* place, const float* leaves, float* reach, int first_parent) {
  const int board = blockIdx.x / LEAVES, leaf = blockIdx.x % LEAVES;
  const float* from = leaves + ((long long)(parent[board] - first_parent) * LEAVES + leaf) * BEFORE;
  float* to = reach + (long long)blockIdx.x * AFTER;
  for (int h = threadIdx.x; h < AFTER; h += THREADS) {
    const int at = place[(long long)board * AFTER + h];
    to[h] = at < BEFORE ? from[at] : 0.0f;
  }
}

// total[p, l, h] += chance * sum over the maps of p's boards of values[board, l, place of h there].
extern "C" __global__ void __launch_bounds__(THREADS) gather(
    const int* first_map, const int* map_board, const int* place, const float* values, float* total, int first_parent,
    int first_board, int map_begin, int map_end, float chance) {
  const int parent = first_parent + blockIdx.x / LEAVES, leaf = blockIdx.x % LEAVES;
  const int begin = max(first_map[parent], map_begin), end = min(first_map[parent + 1], map_end);
  float* to = total + (long long)blockIdx.x * BEFORE;
  for (int h = threadIdx.x; h < BEFORE; h += THREADS) {
    float sum = 0.0f;
    for (int m = begin; m < end; m++) {
      const int at = place[(long long)m * BEFORE + h];
      const long long row = (long long)(map_board[m] - first_board) * LEAVES + leaf;
      if (at < AFTER) sum += values[row * AFTER + at];
    }
    to[h] += chance * sum;
  }
}
