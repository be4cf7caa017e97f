// Updates one player on all rivers of a whole spot: one block of threads per board and place where the betting of the turn ends (a root). The
// rows stay where `whole.py` keeps them, [boards, ALL_ROWS, HANDS]; reach and values are [boards, ALL_ROOTS, HANDS].
//
// A launch takes the CHOSEN roots whose betting has one shape: `roots` has their number and the first of their ROWS rows. Where nobody can bet any
// more there are no rows, and a block takes four roots at a time. The host defines these, and writes the player's pass in place of the mark.

#define LARGEST 3e38f

__device__ __forceinline__ bool is_hand(int j) { return 2 * threadIdx.x + j < HANDS; }
__device__ __forceinline__ void load(const float* regrets, int row, float (&r)[2]) {
  EACH r[j] = is_hand(j) ? regrets[(size_t)row * HANDS + 2 * threadIdx.x + j] : 0.f;
}
__device__ __forceinline__ void store(float* regrets, int row, const float (&r)[2]) {
  EACH if (is_hand(j)) regrets[(size_t)row * HANDS + 2 * threadIdx.x + j] = r[j];
}

struct Pass {
  float reach[2], compatible[2];  // of this thread's hands, see `solve.cu`
  const float *opponent, *old;
  float *next, *value, *sums;
  float positive, negative, decay, floor;
};
__device__ __forceinline__ float root_reach(const Pass& pass, int j) { return pass.reach[j]; }
__device__ __forceinline__ float root_compatible(const Pass& pass, int j) { return pass.compatible[j]; }
__device__ __forceinline__ void keep(const Pass& pass, int j, float value) {
  if (is_hand(j)) pass.value[2 * threadIdx.x + j] = value;
}
__device__ __forceinline__ void add_to_sum(const Pass& pass, int row, int j, float reach) {
  if (!is_hand(j)) return;
  float* at = pass.sums + (size_t)row * HANDS + 2 * threadIdx.x + j;
  *at = *at * pass.decay + reach;
}

#if ROWS
__device__ __forceinline__ void update(Shared& shared, const Pass& pass, const Place (&place)[2], const Lists& list) {
//@PASS
}
#endif

// places [boards, POSITIONS], lists [boards, CARDS, LIST], roots [CHOSEN, 4], stakes [CHOSEN, STAKES], discounts [4].
extern "C" __global__ void __launch_bounds__(THREADS, 1) step(const Place* places, const u32* lists, const int* roots, const float* stakes,
    const float* reach, float* regrets, float* sums, float* values, const float* discounts) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int thread = threadIdx.x, at_once = ROWS ? 1 : 4, blocks = (CHOSEN + at_once - 1) / at_once;
  const size_t board = blockIdx.x / blocks;
  const int chosen = blockIdx.x % blocks * at_once;
  if (thread < STAKES) shared.stake[thread] = stakes[chosen * STAKES + thread];
  Place place[2];
  EACH place[j] = places[board * POSITIONS + 2 * thread + j];
  Lists list;
  read_lists(lists, board, list);
  reach += board * ALL_ROOTS * HANDS;
  values += board * ALL_ROOTS * HANDS;
  float4 rows[2];
  EACH {
    float part[4] = {0.f, 0.f, 0.f, 0.f};
    for (int k = 0; k < at_once; ++k)
      if (chosen + k < CHOSEN && is_hand(j)) part[k] = reach[(size_t)roots[4 * (chosen + k)] * HANDS + 2 * thread + j];
    rows[j] = make(part[0], part[1], part[2], part[3]);
  }
  add_up(shared, rows, list);
  const float4 total = shared.before[SLOT(HANDS)];
  float4 showdown[2], compatible[2];
  EACH look_up(shared, place[j], total, showdown[j], compatible[j]);
#if ROWS
  const size_t begin = (board * ALL_ROWS + roots[4 * chosen + 1]) * HANDS;
  Pass pass = {{rows[0].x, rows[1].x}, {compatible[0].x + rows[0].x, compatible[1].x + rows[1].x}, regrets + begin, regrets + begin,
               regrets + begin, values + (size_t)roots[4 * chosen] * HANDS, sums + begin, discounts[0], discounts[1], discounts[2], discounts[3]};
  update(shared, pass, place, list);
#else
  EACH {
    const float won[4] = {showdown[j].x, showdown[j].y, showdown[j].z, showdown[j].w};
    for (int k = 0; k < at_once; ++k)
      if (chosen + k < CHOSEN && is_hand(j))
        values[(size_t)roots[4 * (chosen + k)] * HANDS + 2 * thread + j] = stakes[(chosen + k) * STAKES] * won[k];
  }
#endif
}
