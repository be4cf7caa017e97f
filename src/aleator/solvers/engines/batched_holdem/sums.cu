// What hands of a river need to know of each other: sums of reach over weaker and over stronger hands that share no card.
//
// Hands are kept in the order of strength; thread i owns positions 2i and 2i + 1. The sums are prefix sums in shared memory: over all hands,
// and over the hands of each card. Four rows of reach are summed at a time, as a float4. `numbers.cu` comes before this file; `solve.cu`
// follows and says what is done with them.
//
// The host defines CARDS (live cards), HANDS (of two of them), LONGEST (hands that hold one card, at most), THREADS, ROWS (actions), STAKES, and
// SHARP (policies in proportion to regrets to the power 1.5). There is no header: NVRTC needs none.

#define POSITIONS (2 * THREADS)              // from HANDS on nothing has reach
#define PER_LANE ((LONGEST + 16) / 16 * 2)   // eight lanes share the hands of a card
#define LIST (8 * PER_LANE)                  // LONGEST hands, then zeros: the sum before slot LONGEST is the total
#define TASKS ((CARDS * 8 + THREADS - 1) / THREADS)
#define SLOT(p) ((p) + ((p) >> 3))           // spreads float4s over the banks of shared memory
#define STRIDE (LIST / 8 * 9 + 1)            // from one card's sums to the next's: odd, for the same reason
#define EACH _Pragma("unroll") for (int j = 0; j < 2; ++j)

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
  return regret * square_root(regret);
#else
  return regret;
#endif
}

// The hands of each card that a thread adds up, in pairs of slots.
typedef u32 Lists[TASKS][PER_LANE / 2];

__device__ __forceinline__ void read_lists(const u32* lists, size_t board, Lists& list) {
#pragma unroll
  for (int k = 0; k < TASKS; ++k)
#pragma unroll
    for (int i = 0; i < PER_LANE / 2; ++i) {
      const int task = threadIdx.x + k * THREADS;
      list[k][i] = task < CARDS * 8 ? lists[(board * CARDS * 8 + task) * (PER_LANE / 2) + i] : 0;
    }
}

// Adds up four rows of reach: `before` over all hands, `held` over the hands of each card, both exclusive.
__device__ __forceinline__ void add_up(Shared& shared, const float4 (&rows)[2], const Lists& list) {
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
  const int last = SLOT(LONGEST);
  float4 first = shared.held[(place.first >> 24) * STRIDE + last], second = shared.held[(place.second >> 24) * STRIDE + last];
  compatible = total - (first + second);
  float4 all = shared.before[place.all & 0xffff] + shared.before[place.all >> 16];
  float4 one = shared.held[place.first & 0xfff] + shared.held[place.first >> 12 & 0xfff];
  float4 two = shared.held[place.second & 0xfff] + shared.held[place.second >> 12 & 0xfff];
  showdown = (all - (one + two)) - compatible;
}
