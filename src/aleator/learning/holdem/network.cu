// What is done for single hands around a value network's trunk; `network.py` is the reference, `fused_leaves.py` the
// caller. A block of threads has one leaf of one game. Rows of reach are [game, leaf, player, hand]; given to the
// compiler, after `numbers.cu`: THREADS (a power of two), HANDS, CARDS, KNOTS, LEVELS, BANDS, BAND_KNOTS, INPUTS.
#define GRID (KNOTS * LEVELS)
#define LEAST_MASS 1e-37f  // of a reach that can be normalised; below it nobody comes
#define EACH(i, count) for (int i = threadIdx.x; i < (count); i += THREADS)

static __device__ __forceinline__ float from_bfloat(unsigned short x) { return from_bits((unsigned)x << 16); }
static __device__ __forceinline__ unsigned short to_bfloat(float x) {
  const unsigned bits = to_bits(x);
  return (unsigned short)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);  // to the nearest, ties to even
}
static __device__ __forceinline__ float limited(float x, float low, float high) { return fminf(fmaxf(x, low), high); }

// Adds numbers of all threads; everybody gets the result.
static __device__ float total_of(float mine, float* shared) {
  __syncthreads();
  shared[threadIdx.x] = mine;
  for (int step = THREADS / 2; step; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) shared[threadIdx.x] += shared[threadIdx.x + step];
  }
  __syncthreads();
  return shared[0];
}

// Where a number in [0, 1] lies between knots: `low` of them and the part of the way to the next.
struct Reading {
  int low;
  float part;
};
static __device__ __forceinline__ Reading between(float position, int knots) {
  const float at = limited(position, 0.f, 1.f) * (knots - 1);
  const float low = limited(floorf(at), 0.f, (float)(knots - 2));
  return {(int)low, limited(at - low, 0.f, 1.f)};
}

// Both players' beliefs at a leaf, what they can meet, and where hands stand by equity.
struct Leaf {
  float inverse[2];  // of the mass of each player's reach; 0 if there is none
  float by_card[2][CARDS];
  float compatible[2][HANDS], position[2][HANDS];
  float part[THREADS];
};
static __device__ __forceinline__ float belief(const Leaf& leaf, const float* reach, int player, int hand) {
  return leaf.inverse[player] > 0.f ? reach[player * HANDS + hand] * leaf.inverse[player] : 1.f / HANDS;
}
static __device__ __forceinline__ float checked_down(const unsigned short* checked, int player, int hand) {
  return from_half(checked[player * HANDS + hand]) * (0.5f / HANDS);
}
static __device__ void look(
    Leaf& leaf, const float* reach, const float* mass, const unsigned short* checked, const unsigned char* cards) {
  EACH(i, 2) leaf.inverse[i] = mass[i] > LEAST_MASS ? 1.f / mass[i] : 0.f;
  EACH(i, 2 * CARDS) leaf.by_card[i / CARDS][i % CARDS] = 0.f;
  __syncthreads();
  EACH(i, 2 * HANDS) {
    const int player = i / HANDS, hand = i % HANDS;
    const float mine = belief(leaf, reach, player, hand);
    atomicAdd(&leaf.by_card[player][cards[2 * hand]], mine);
    atomicAdd(&leaf.by_card[player][cards[2 * hand + 1]], mine);
  }
  __syncthreads();
  EACH(i, 2 * HANDS) {
    const int player = i / HANDS, hand = i % HANDS, other = 1 - player;
    const float* taken = leaf.by_card[other];
    const float met = 1.f - taken[cards[2 * hand]] - taken[cards[2 * hand + 1]] + belief(leaf, reach, other, hand);
    const float equity = limited(2.f * checked_down(checked, player, hand) / fmaxf(met, 1e-6f), -1.f, 1.f);
    leaf.compatible[player][hand] = met;
    leaf.position[player][hand] = asinf(equity * 0.99999f) * 0.318309886f + 0.5f;
  }
  __syncthreads();
}

// From reach to its mass, and to the opponent's beliefs times HANDS in half precision, which equities are multiplied by.
extern "C" __global__ void __launch_bounds__(THREADS) normalise(
    const float* __restrict__ reach, float* __restrict__ mass, unsigned short* __restrict__ others) {
  __shared__ float part[THREADS];
  const long long row = blockIdx.x;
  const float* mine = reach + row * HANDS;
  float sum = 0.f;
  EACH(hand, HANDS) sum += mine[hand];
  sum = total_of(sum, part);
  if (!threadIdx.x) mass[row] = sum;
  const bool there = sum > LEAST_MASS;
  EACH(hand, HANDS) others[(row ^ 1) * HANDS + hand] = to_half(there ? mine[hand] / sum * HANDS : 1.f);
}

// The trunk's inputs [games x asked, INPUTS] in bfloat16.
extern "C" __global__ void __launch_bounds__(THREADS) inputs(
    const float* __restrict__ reach, const float* __restrict__ mass, const unsigned short* __restrict__ checked,
    const float* __restrict__ spread, const float* __restrict__ stacks, const unsigned char* __restrict__ cards,
    const int* __restrict__ asked, int num_asked, int num_leaves, int sharing, unsigned short* __restrict__ rows) {
  __shared__ Leaf leaf;
  __shared__ float grid[2 * GRID];
  const long long game = blockIdx.x / num_asked, number = game * num_leaves + asked[blockIdx.x % num_asked];
  const float* mine = reach + number * 2 * HANDS;
  const float* spreads = spread + game / sharing * HANDS;
  unsigned short* row = rows + (long long)blockIdx.x * INPUTS;
  EACH(i, 2 * GRID) grid[i] = 0.f;
  look(leaf, mine, mass + number * 2, checked + number * 2 * HANDS, cards);
  EACH(i, 2 * HANDS) {
    const int player = i / HANDS, hand = i % HANDS;
    const float weight = belief(leaf, mine, player, hand);
    const Reading at = between(leaf.position[player][hand], KNOTS);
    float* here = grid + player * GRID + at.low;
#if LEVELS > 1
    const Reading level = between(spreads[hand] * 2.f, LEVELS);
    here += level.low * KNOTS;
    const float upper = weight * level.part, lower = weight - upper;
    atomicAdd(&here[KNOTS], upper * (1.f - at.part));
    atomicAdd(&here[KNOTS + 1], upper * at.part);
#else
    const float lower = weight;
#endif
    atomicAdd(&here[0], lower * (1.f - at.part));
    atomicAdd(&here[1], lower * at.part);
  }
  __syncthreads();
  EACH(i, 2 * GRID) row[i] = to_bfloat(4.f * sqrtf(fmaxf(grid[i], 0.f)));
  EACH(i, 2 * LEVELS) {
    float sum = 0.f;
    for (int knot = i * KNOTS; knot < (i + 1) * KNOTS; knot++) {
      sum += grid[knot];
      row[2 * GRID + knot] = to_bfloat(2.f * sum - 1.f);
    }
  }
  if (threadIdx.x) return;
  const float bounds[5] = {0.3f, 1.f, 4.f, 13.f, 40.f};
  const float log = logf(fmaxf(stacks[number], 1e-3f));
  row += 4 * GRID;
  row[0] = to_bfloat(log / 3.f);
  row[1] = to_bfloat(1.f / (1.f + expf(-log)));
  for (int i = 0; i < 5; i++) row[2 + i] = to_bfloat(1.f / (1.f + expf(-3.f * (log - logf(bounds[i])))));
  for (int i = 4 * GRID + 7; i < INPUTS; i++) row[i - 4 * GRID] = 0;
}

// cfvs in pots of the root: checking down, corrected by the curves where somebody can still bet.
extern "C" __global__ void __launch_bounds__(THREADS) outputs(
    const float* __restrict__ reach, const float* __restrict__ mass, const unsigned short* __restrict__ checked,
    const float* __restrict__ spread, const float* __restrict__ stacks, const unsigned char* __restrict__ cards,
    const int* __restrict__ place, int num_asked, int num_leaves, int sharing,
    const unsigned short* __restrict__ curves, const unsigned short* __restrict__ band_curves,
    const float* __restrict__ pots, float* __restrict__ values) {
  __shared__ Leaf leaf;
  __shared__ float curve[2 * GRID], band_curve[2][BAND_KNOTS][BANDS], blocked[2][CARDS][BANDS];
  const long long number = blockIdx.x, game = number / num_leaves;
  const float* mine = reach + number * 2 * HANDS;
  const unsigned short* down = checked + number * 2 * HANDS;
  float* found = values + number * 2 * HANDS;
  const float scale[2] = {mass[number * 2 + 1] * pots[number], mass[number * 2] * pots[number]};
  const int column = place[number % num_leaves];
  if (column < 0) {
    EACH(i, 2 * HANDS) found[i] = checked_down(down, i / HANDS, i % HANDS) * scale[i / HANDS];
    return;
  }
  const long long answer = game * num_asked + column;
  const float* spreads = spread + game / sharing * HANDS;
  EACH(i, 2 * GRID) curve[i] = from_bfloat(curves[answer * 2 * GRID + i]);
  EACH(i, 2 * BAND_KNOTS * BANDS) (&band_curve[0][0][0])[i] = from_bfloat(band_curves[answer * 2 * BAND_KNOTS * BANDS + i]);
  EACH(i, 2 * CARDS * BANDS) (&blocked[0][0][0])[i] = 0.f;
  look(leaf, mine, mass + number * 2, down, cards);
  EACH(i, 2 * HANDS) {
    const int player = i / HANDS, hand = i % HANDS;
    const Reading band = between(leaf.position[player][hand], BANDS);
    const float weight = belief(leaf, mine, player, hand), upper = weight * band.part;
    for (int k = 0; k < 2; k++) {
      float* sums = blocked[player][cards[2 * hand + k]] + band.low;
      atomicAdd(&sums[0], weight - upper);
      atomicAdd(&sums[1], upper);
    }
  }
  __syncthreads();
  const float size = 0.25f * log1pf(stacks[number]);
  float surplus = 0.f, pairs = 0.f;
  EACH(i, 2 * HANDS) {
    const int player = i / HANDS, hand = i % HANDS, other = 1 - player;
    const float met = leaf.compatible[player][hand], own = belief(leaf, mine, player, hand);
    const Reading at = between(leaf.position[player][hand], KNOTS);
    const float* here = curve + player * GRID + at.low;
#if LEVELS > 1
    const Reading level = between(spreads[hand] * 2.f, LEVELS);
    here += level.low * KNOTS;
    const float low = here[0] + (here[1] - here[0]) * at.part;
    const float high = here[KNOTS] + (here[KNOTS + 1] - here[KNOTS]) * at.part;
    float change = met * (low + (high - low) * level.part);
#else
    float change = met * (here[0] + (here[1] - here[0]) * at.part);
#endif
    const Reading knot = between(leaf.position[player][hand], BAND_KNOTS);
    const Reading band = between(leaf.position[other][hand], BANDS);
    const float theirs = belief(leaf, mine, other, hand);  // of the same hand, which both its cards count
    const float* first = blocked[other][cards[2 * hand]];
    const float* second = blocked[other][cards[2 * hand + 1]];
    for (int b = 0; b < BANDS; b++) {
      const float once = b == band.low ? 1.f - band.part : b == band.low + 1 ? band.part : 0.f;
      const float low = band_curve[player][knot.low][b], high = band_curve[player][knot.low + 1][b];
      change += (first[b] + second[b] - theirs * once) * (low + (high - low) * knot.part);
    }
    const float value = checked_down(down, player, hand) + change * size;
    found[i] = value;
    surplus += own * value;
    if (!player) pairs += own * met;
  }
  surplus = total_of(surplus, leaf.part);
  pairs = total_of(pairs, leaf.part);
  surplus /= fmaxf(2.f * pairs, 1e-6f);
  EACH(i, 2 * HANDS) found[i] = (found[i] - leaf.compatible[i / HANDS][i % HANDS] * surplus) * scale[i / HANDS];
}
