// Solves rivers of one betting shape: one block of threads per game, all iterations in one launch. Reach goes down and values come up within
// a thread; only regrets are read and written.
//
// The host defines SIMULTANEOUS (both players are updated under the same policies) and AVERAGES (average policies are kept), and writes the
// passes of both players, which follow the betting, in place of the two marks below.

#define LARGEST 60000.f  // regrets are float16

// Two float16 regrets of a row.
__device__ __forceinline__ void load(const u32* regrets, int row, float (&r)[2]) {
  u32 both = regrets[row * THREADS + threadIdx.x];
  r[0] = from_half(both & 0xffff);
  r[1] = from_half(both >> 16);
}
__device__ __forceinline__ void store(u32* regrets, int row, const float (&r)[2]) {
  regrets[row * THREADS + threadIdx.x] = to_half(r[0]) | (u32)to_half(r[1]) << 16;
}

struct Pass {
  const float *reach, *compatible;  // the opponent's reach at the root, and what of it shares no card with the player's hands
  const u32 *opponent, *old;        // regrets
  u32* next;
  float *value, *sums;
  float scale, positive, negative, decay, floor;
};
__device__ __forceinline__ float root_reach(const Pass& pass, int j) { return pass.reach[2 * threadIdx.x + j] * pass.scale; }
__device__ __forceinline__ float root_compatible(const Pass& pass, int j) { return pass.compatible[2 * threadIdx.x + j]; }
__device__ __forceinline__ void keep(const Pass& pass, int j, float value) {
  float* at = pass.value + 2 * threadIdx.x + j;
  *at = *at * pass.decay + value / pass.scale;
}
__device__ __forceinline__ void add_to_sum(const Pass& pass, int row, int j, float reach) {
#if AVERAGES
  float* at = pass.sums + row * POSITIONS + 2 * threadIdx.x + j;
  *at = *at * pass.decay + reach;
#endif
}

__device__ __forceinline__ void update0(Shared& shared, const Pass& pass, const Place (&place)[2], const Lists& list) {
//@PASS0
}

__device__ __forceinline__ void update1(Shared& shared, const Pass& pass, const Place (&place)[2], const Lists& list) {
//@PASS1
}

// Game blockIdx.x. places [B, POSITIONS], lists [B, CARDS, LIST], reach [B, 2, POSITIONS], stakes [B, STAKES],
// regrets [B, buffers, ROWS, POSITIONS] float16 (two buffers if SIMULTANEOUS), scratch [B, 2, POSITIONS], values [B, 2, POSITIONS],
// sums [B, ROWS, POSITIONS], kept [B, ROWS, POSITIONS], keep_at [B], schedule [iterations, 4]. `done` iterations have been run before.
extern "C" __global__ void __launch_bounds__(THREADS, 1) solve(const Place* places, const u32* lists, const float* reach, const float* stakes,
    u32* regrets, float* scratch, float* values, float* sums, u32* kept, const int* keep_at, const float* schedule, int done, int iterations) {
  extern __shared__ __align__(16) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  const int thread = threadIdx.x;
  const size_t game = blockIdx.x;
  const u32 rows = ROWS * THREADS;  // of one game, in pairs of regrets
  reach += game * 2 * POSITIONS;
  scratch += game * 2 * POSITIONS;
  values += game * 2 * POSITIONS;
  regrets += game * (1 + SIMULTANEOUS) * rows;
  if (thread < STAKES) shared.stake[thread] = stakes[game * STAKES + thread];
  Place place[2];
  EACH place[j] = places[game * POSITIONS + 2 * thread + j];
  Lists list;
  read_lists(lists, game, list);
  __syncthreads();
  float largest = 0.f;
  for (int k = 0; k < STAKES; ++k) largest = fmaxf(largest, shared.stake[k]);
  const float scale = 64.f / largest;  // keeps float16 regrets in range
  if (!done) for (u32 i = thread; i < rows; i += THREADS) regrets[i] = 0;
  {  // what both root ranges leave of each other
    float4 ranges[2];
    EACH ranges[j] = make(reach[2 * thread + j], reach[POSITIONS + 2 * thread + j], 0.f, 0.f);
    add_up(shared, ranges, list);
    float4 total = shared.before[SLOT(HANDS)];
    EACH {
      float4 showdown, compatible;
      look_up(shared, place[j], total, showdown, compatible);
      scratch[2 * thread + j] = (compatible.y + ranges[j].y) * scale;
      scratch[POSITIONS + 2 * thread + j] = (compatible.x + ranges[j].x) * scale;
      if (!done) { values[2 * thread + j] = 0.f; values[POSITIONS + 2 * thread + j] = 0.f; }
    }
  }
#pragma unroll 1
  for (int t = 0; t < iterations; ++t) {
    const float positive = schedule[4 * t], negative = schedule[4 * t + 1], decay = schedule[4 * t + 2];
    const float floor = fmaxf(schedule[4 * t + 3], -LARGEST);
    const u32 at = SIMULTANEOUS && ((done + t) & 1) ? rows : 0;       // player 0's regrets of the last iteration
    const u32 to = SIMULTANEOUS && !((done + t) & 1) ? rows : 0;      // and of this one
    if (kept && keep_at[game] == done + t + 1) {
      u32* copy = kept + game * rows;
      if (SIMULTANEOUS) for (int row = 0; row < ROWS; ++row) copy[row * THREADS + thread] = regrets[(OWNED0(row) ? at : 0) + row * THREADS + thread];
      else for (u32 i = thread; i < rows; i += THREADS) copy[i] = regrets[i];
    }
    float* sum = AVERAGES ? sums + game * ROWS * POSITIONS : 0;
    Pass pass0 = {reach + POSITIONS, scratch, regrets, regrets + at, regrets + to, values, sum, scale, positive, negative, decay, floor};
    update0(shared, pass0, place, list);
    Pass pass1 = {reach, scratch + POSITIONS, regrets + at, regrets, regrets, values + POSITIONS, sum, scale, positive, negative, decay, floor};
    update1(shared, pass1, place, list);
  }
}
