// Solves rivers of one betting shape: one block of threads per game, all iterations in one launch.
//
// Hands are kept in the order of strength; thread i owns positions 2i and 2i + 1. Reach goes down and values come up within a
// thread. What hands need to know of each other, the reach of weaker and of stronger hands, are prefix sums in shared memory: over all
// hands, and over the hands of each card. Four rows of reach are summed at a time, as a float4.
//
// The host defines CARDS (live cards), HANDS (of two of them), THREADS, ROWS (actions), STAKES, SHARP (policies in proportion to
// regrets to the power 1.5), SIMULTANEOUS (both players are updated under the same policies) and AVERAGES (average policies are kept), and
// writes the passes of both players, which follow the betting, in place of the two marks below. There is no header: NVRTC needs none.

typedef unsigned int u32;
typedef unsigned short u16;

#define POSITIONS (2 * THREADS)              // from HANDS on nothing has reach
#define PER_LANE ((CARDS + 15) / 16 * 2)     // eight lanes share the hands of a card
#define LIST (8 * PER_LANE)                  // CARDS - 1 hands, then zeros: the sum before slot CARDS - 1 is the total
#define TASKS ((CARDS * 8 + THREADS - 1) / THREADS)
#define SLOT(p) ((p) + ((p) >> 3))           // spreads float4s over the banks of shared memory
#define STRIDE (LIST / 8 * 9 + 1)            // from one card's sums to the next's: odd, for the same reason
#define EACH _Pragma("unroll") for (int j = 0; j < 2; ++j)
#define LARGEST 60000.f                      // regrets are float16

struct Shared {
  float4 reach[SLOT(POSITIONS) + 1], before[SLOT(POSITIONS) + 1], held[CARDS * STRIDE], warp[32];
  float stake[STAKES];
};
// Slots of prefix sums: of weaker and of not stronger hands, among all (16 bits each) and among those of the hand's two cards (12 each).
struct __align__(16) Place { u32 all, first, second, unused; };

__device__ __forceinline__ float4 make(float x, float y, float z, float w) { float4 v; v.x = x; v.y = y; v.z = z; v.w = w; return v; }
__device__ __forceinline__ float4 operator+(float4 a, float4 b) { return make(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w); }
__device__ __forceinline__ float4 operator-(float4 a, float4 b) { return make(a.x - b.x, a.y - b.y, a.z - b.z, a.w - b.w); }
__device__ __forceinline__ float4 from_lower_lane(float4 v, int by, int width) {
  return make(__shfl_up_sync(~0u, v.x, by, width), __shfl_up_sync(~0u, v.y, by, width), __shfl_up_sync(~0u, v.z, by, width),
              __shfl_up_sync(~0u, v.w, by, width));
}

// What a policy is proportional to.
__device__ __forceinline__ float weight(float regret) {
  regret = fmaxf(regret, 0.f);
#if SHARP
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(regret));
  return regret * root;
#else
  return regret;
#endif
}

// Two float16 regrets of a row.
__device__ __forceinline__ void load(const u32* regrets, int row, float (&r)[2]) {
  u32 both = regrets[row * THREADS + threadIdx.x];
  asm("{ .reg .f16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b; }" : "=f"(r[0]), "=f"(r[1]) : "r"(both));
}
__device__ __forceinline__ void store(u32* regrets, int row, const float (&r)[2]) {
  u32 both;
  asm("{ .reg .f16 a, b; cvt.rn.f16.f32 a, %1; cvt.rn.f16.f32 b, %2; mov.b32 %0, {a, b}; }" : "=r"(both) : "f"(r[0]), "f"(r[1]));
  regrets[row * THREADS + threadIdx.x] = both;
}

// Adds up four rows of reach: `before` over all hands, `held` over the hands of each card, both exclusive.
__device__ __forceinline__ void add_up(Shared& shared, const float4 (&rows)[2], const u32 (&list)[TASKS][PER_LANE / 2]) {
  const int thread = threadIdx.x, lane = thread & 31;
  float4 sum = rows[0] + rows[1];
  EACH shared.reach[SLOT(2 * thread + j)] = rows[j];
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    float4 lower = from_lower_lane(sum, by, 32);
    if (lane >= by) sum = sum + lower;
  }
  if (lane == 31) shared.warp[thread >> 5] = sum;
  float4 before = from_lower_lane(sum, 1, 32);
  if (lane == 0) before = make(0.f, 0.f, 0.f, 0.f);
  __syncthreads();
#pragma unroll
  for (int k = 0; k < TASKS; ++k) {
    const int task = thread + k * THREADS;
    if ((task & ~31) < CARDS * 8) {  // whole warps, for the shuffles
      float4 partial[PER_LANE], own = make(0.f, 0.f, 0.f, 0.f);
#pragma unroll
      for (int i = 0; i < PER_LANE; ++i) {
        partial[i] = own;
        own = own + shared.reach[i & 1 ? list[k][i / 2] >> 16 : list[k][i / 2] & 0xffff];
      }
#pragma unroll
      for (int by = 1; by < 8; by *= 2) {
        float4 lower = from_lower_lane(own, by, 8);
        if ((thread & 7) >= by) own = own + lower;
      }
      float4 lower = from_lower_lane(own, 1, 8);
      if ((thread & 7) == 0) lower = make(0.f, 0.f, 0.f, 0.f);
      if (task < CARDS * 8) {
#pragma unroll
        for (int i = 0; i < PER_LANE; ++i) shared.held[(task >> 3) * STRIDE + SLOT((task & 7) * PER_LANE + i)] = lower + partial[i];
      }
    }
  }
  for (int w = 0; w < (thread >> 5); ++w) before = before + shared.warp[w];
  EACH { shared.before[SLOT(2 * thread + j)] = before; before = before + rows[j]; }
  __syncthreads();
}

// Of four rows, for one hand: reach of weaker less that of stronger hands, and reach of all hands that share no card, less its own.
__device__ __forceinline__ void look_up(const Shared& shared, const Place& place, float4 total, float4& showdown, float4& compatible) {
  const int last = SLOT(CARDS - 1);
  float4 first = shared.held[(place.first >> 24) * STRIDE + last], second = shared.held[(place.second >> 24) * STRIDE + last];
  compatible = total - (first + second);
  float4 all = shared.before[place.all & 0xffff] + shared.before[place.all >> 16];
  float4 one = shared.held[place.first & 0xfff] + shared.held[place.first >> 12 & 0xfff];
  float4 two = shared.held[place.second & 0xfff] + shared.held[place.second >> 12 & 0xfff];
  showdown = (all - (one + two)) - compatible;
}

struct Pass {
  const float *reach, *compatible;  // the opponent's reach at the root, and what of it shares no card with the player's hands
  const u32 *opponent, *old;        // regrets
  u32* next;
  float *value, *sums;
  float scale, positive, negative, decay, floor;
};

__device__ __forceinline__ void update0(Shared& shared, const Pass& pass, const Place (&place)[2], const u32 (&list)[TASKS][PER_LANE / 2]) {
//@PASS0
}

__device__ __forceinline__ void update1(Shared& shared, const Pass& pass, const Place (&place)[2], const u32 (&list)[TASKS][PER_LANE / 2]) {
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
  u32 list[TASKS][PER_LANE / 2];
#pragma unroll
  for (int k = 0; k < TASKS; ++k)
#pragma unroll
    for (int i = 0; i < PER_LANE / 2; ++i) {
      const int task = thread + k * THREADS;
      list[k][i] = task < CARDS * 8 ? lists[(game * CARDS * 8 + task) * (PER_LANE / 2) + i] : 0;
    }
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
