// One street of a whole spot, whatever its betting. `down` takes the opponent's reach to where the street ends, `up` brings the values of
// these ends back, `meet` and `show` say what folds and showdowns are worth, `gather` takes values to before the card. `numbers.cu` comes before this file.
//
// In `down` and `up` a thread has four hands of one board below one root: a place where the street before ends. It goes through the root's
// decisions, parents first or last; reach and values between decisions wait in slots of shared memory, which the host has given out.
//
// roots [n, 3]: where reach arrives, first decision, behind the last one. targets [rows]: where an action leads. That is a slot, or ~e for
// the end e of the street; folds come first among ends, then the others: showdowns or leaves. Rows are [boards, rows, hands]; hands are a
// multiple of four.

struct __align__(16) Four { float x[4]; };
struct __align__(8) FourHalves { u16 x[4]; };
struct __align__(16) Decision { int slot, player, row, count; };

// Actions are read four at a time, before anything is done with them: what limits these kernels is waiting for memory.
#define EACH _Pragma("unroll") for (int j = 0; j < 4; ++j)
#define ACTIONS _Pragma("unroll") for (int k = 0; k < 4; ++k) if (begin + k < count)
#define FOURS_OF_ACTIONS for (int begin = 0; begin < count; begin += 4)

__device__ __forceinline__ Four load(const float* at) { return *reinterpret_cast<const Four*>(at); }
__device__ __forceinline__ void store(float* at, const Four& four) { *reinterpret_cast<Four*>(at) = four; }
__device__ __forceinline__ Four same(float x) { return {{x, x, x, x}}; }

// What a policy is proportional to.
__device__ __forceinline__ float weight(float x, int sharp) {
  x = fmaxf(x, 0.f);
  return sharp ? x * square_root(x) : x;
}

// The policy of one decision from the sum of its weights; uniform where these are so small that one over them is infinite.
#define LEAST_WEIGHT 1e-30f
struct Policy {
  Four over, even;
  int sharp;
  __device__ __forceinline__ Policy(const Four& all, int count, int sharp) : sharp(sharp) {
    EACH over.x[j] = all.x[j] > LEAST_WEIGHT ? 1.f / all.x[j] : 0.f;
    EACH even.x[j] = all.x[j] > LEAST_WEIGHT ? 0.f : 1.f / count;
  }
  __device__ __forceinline__ float of(const Four& row, int j) const { return weight(row.x[j], sharp) * over.x[j] + even.x[j]; }
};

// Blocks of one root stand side by side.
#define HERE \
  extern __shared__ __align__(16) unsigned char memory[]; \
  Four* slots = reinterpret_cast<Four*>(memory) + threadIdx.x; \
  const int quads = hands / 4, per_root = (boards * quads + THREADS - 1) / THREADS; \
  const int root = blockIdx.x / per_root, item = blockIdx.x % per_root * THREADS + threadIdx.x; \
  if (item >= boards * quads) return; \
  const int board = item / quads, hand = item % quads * 4; \
  const int entry = roots[3 * root], first = roots[3 * root + 1], behind = roots[3 * root + 2]; \
  const size_t rows_before = (size_t)board * num_rows;

// above [boards before, roots, hands] has the opponent's reach, by `parent` [boards]; `live` [boards, hands] is 0 where the board has a card of
// the hand. Policies follow from `rows`. Where there are `sums`, the opponent's policies are added to them. Where there are `halves`, reach at the
// other ends goes there, as float16, times `scale`.
extern "C" __global__ void __launch_bounds__(THREADS) down(const int* roots, const Decision* decisions, const int* targets, const int* parent,
    const float* live, const float* above, const float* rows, float* sums, float* folds, float* others, u16* halves, const float* discounts,
    int first_parent, int player, int boards, int hands, int num_roots, int num_rows, int num_folds, int num_others, int sharp, float scale) {
  HERE
  const float decay = discounts[2];
  const auto arrive = [&](int target, const Four& reach) {
    if (target >= 0) { slots[target * THREADS] = reach; return; }
    const int end = ~target;
    const size_t at = ((size_t)board * num_others + end - num_folds) * hands + hand;
    if (end < num_folds) store(folds + ((size_t)board * num_folds + end) * hands + hand, reach);
    else if (!halves) store(others + at, reach);
    else {
      FourHalves four;
      EACH four.x[j] = to_half(reach.x[j] * scale);
      *reinterpret_cast<FourHalves*>(halves + at) = four;
    }
  };
  Four reach = load(above + ((size_t)(parent[board] - first_parent) * num_roots + root) * hands + hand);
  const Four alive = load(live + (size_t)board * hands + hand);
  EACH reach.x[j] *= alive.x[j];
  arrive(entry, reach);
  for (int d = first; d < behind; ++d) {
    const Decision decision = decisions[d];
    const int *target = targets + decision.row, count = decision.count;
    reach = slots[decision.slot * THREADS];
    if (decision.player == player) {
      for (int k = 0; k < count; ++k) arrive(target[k], reach);
      continue;
    }
    const size_t at = (rows_before + decision.row) * hands + hand;
    Four row[4], sum[4], all = same(0.f);
    int to[4];
    const auto fetch = [&](int begin) {
      ACTIONS row[k] = load(rows + at + (size_t)(begin + k) * hands);
      ACTIONS to[k] = target[begin + k];
      if (sums) { ACTIONS sum[k] = load(sums + at + (size_t)(begin + k) * hands); }
    };
    FOURS_OF_ACTIONS {
      fetch(begin);
      ACTIONS EACH all.x[j] += weight(row[k].x[j], sharp);
    }
    const Policy policy(all, count, sharp);
    FOURS_OF_ACTIONS {
      if (count > 4) fetch(begin);
      ACTIONS {
        Four below;
        EACH below.x[j] = reach.x[j] * policy.of(row[k], j);
        if (sums) {
          EACH sum[k].x[j] = sum[k].x[j] * decay + below.x[j];
          store(sums + at + (size_t)(begin + k) * hands, sum[k]);
        }
        arrive(to[k], below);
      }
    }
  }
}

// folds and others [boards, ..., hands] have what ends are worth per chip of their stake [folds + others], which is the same on all boards
// (`stakes_each` 0) or one for each; `values` [boards, roots, hands] are the player's. Its policies follow from `rows`, or are the best. Where
// there are `regrets`, which are the `rows`, they are updated. Where there are `means` [boards, 1 + actions of the root, hands], of one root, what
// the root and its actions are worth is added to them.
extern "C" __global__ void __launch_bounds__(THREADS) up(const int* roots, const Decision* decisions, const int* targets, const float* stakes,
    const float* folds, const float* others, const float* rows, float* regrets, float* values, float* means, const float* discounts,
    int stakes_each, int player, int boards, int hands, int num_roots, int num_rows, int num_folds, int num_others, int sharp, int best) {
  HERE
  const float positive = discounts[0], negative = discounts[1], decay = discounts[2], least = discounts[3];
  stakes += (size_t)board * stakes_each;
  const auto place = [&](int target) {
    const int end = ~target;
    return target >= 0 ? &slots[target * THREADS].x[0]
        : end < num_folds ? folds + ((size_t)board * num_folds + end) * hands + hand
                          : others + ((size_t)board * num_others + end - num_folds) * hands + hand;
  };
  const auto stake = [&](int target) { return target >= 0 ? 1.f : stakes[~target]; };
  for (int d = behind - 1; d >= first; --d) {
    const Decision decision = decisions[d];
    const int *target = targets + decision.row, count = decision.count;
    const size_t at = (rows_before + decision.row) * hands + hand;
    const bool own = decision.player == player, mixed = own && !best;
    Four row[4], below[4], all = same(0.f), value = same(own && best ? -3e38f : 0.f);
    float factor[4];
    const auto fetch = [&](int begin) {
      if (mixed) { ACTIONS row[k] = load(rows + at + (size_t)(begin + k) * hands); }
      ACTIONS below[k] = load(place(target[begin + k]));
      ACTIONS factor[k] = stake(target[begin + k]);
      ACTIONS EACH below[k].x[j] *= factor[k];
    };
    FOURS_OF_ACTIONS {
      fetch(begin);
      if (mixed) { ACTIONS EACH all.x[j] += weight(row[k].x[j], sharp); }
      else { ACTIONS EACH value.x[j] = own ? fmaxf(value.x[j], below[k].x[j]) : value.x[j] + below[k].x[j]; }
    }
    if (mixed) {
      const Policy policy(all, count, sharp);
      FOURS_OF_ACTIONS {
        if (count > 4) fetch(begin);
        ACTIONS EACH value.x[j] += policy.of(row[k], j) * below[k].x[j];
      }
      if (regrets) FOURS_OF_ACTIONS {
        if (count > 4) fetch(begin);
        ACTIONS {
          EACH row[k].x[j] = fmaxf(row[k].x[j] * (row[k].x[j] > 0.f ? positive : negative) + (below[k].x[j] - value.x[j]), least);
          store(regrets + at + (size_t)(begin + k) * hands, row[k]);
        }
      }
    }
    if (means && d == first) {
      float* mean = means + (size_t)board * (1 + count) * hands + hand;
      const auto add = [&](int row, const Four& more) {
        Four sum = load(mean + (size_t)row * hands);
        EACH sum.x[j] = sum.x[j] * decay + more.x[j];
        store(mean + (size_t)row * hands, sum);
      };
      add(0, value);
      FOURS_OF_ACTIONS {
        if (count > 4) fetch(begin);
        ACTIONS add(1 + begin + k, below[k]);
      }
    }
    slots[decision.slot * THREADS] = value;  // which an action may have used
  }
  Four value = load(place(entry));
  EACH value.x[j] *= stake(entry);
  store(values + ((size_t)board * num_roots + root) * hands + hand, value);
}

// In `meet` and `show` a warp has one of the rows [count, hands] of reach, of which `rows_each` belong to a board. A lane has two cards: `lists`
// [longest + shorter, 32] are the hands of 32 cards that are in many, and of the others; `hands` stands for nobody. `cards` [hands, 2] of the
// board's `spot` says where the sums of a hand's cards begin, of `longest + 1` or `shorter + 1` sums of 32 cards.
#define ROW \
  extern __shared__ __align__(16) unsigned char memory[]; \
  const int lane = threadIdx.x % 32, number = blockIdx.x * (THREADS / 32) + threadIdx.x / 32, middle = (longest + 1) * 32; \
  const size_t board = min(number, count - 1) / rows_each; \
  float* row = rows + (size_t)number * hands; \
  cards += (size_t)spot[board] * hands * 2;

__device__ __forceinline__ void read_row(float* reach, const float* row, int hands, bool there) {
  if (there) for (int h = threadIdx.x % 32 * 4; h < hands; h += 128) store(reach + h, load(row + h));
  reach[hands] = 0.f;
  __syncthreads();
}

// Replaces reach by that of hands that share no card: all of it, less that of both cards, plus the hand's own, which both have counted.
// Lists are those of a spot.
extern "C" __global__ void __launch_bounds__(THREADS) meet(const int* spot, const short* cards, const short* lists, float* rows, int count,
    int rows_each, int hands, int longest, int shorter) {
  ROW
  float* held = reinterpret_cast<float*>(memory) + threadIdx.x / 32 * (64 + hands + 4);
  float* reach = held + 64;
  read_row(reach, row, hands, number < count);
  lists += (size_t)spot[board] * (longest + shorter) * 32 + lane;
  float first = 0.f, second = 0.f;
#pragma unroll 4
  for (int i = 0; i < longest; ++i) first += reach[lists[i * 32]];
#pragma unroll 4
  for (int i = longest; i < longest + shorter; ++i) second += reach[lists[i * 32]];
  held[lane] = first;
  held[lane + 32] = second;
  __syncthreads();
  if (number >= count) return;
  Four twice = same(0.f);
  for (int card = 0; card < 64; card += 4) {
    const Four four = load(held + card);
    EACH twice.x[j] += four.x[j];
  }
  const float all = .5f * (twice.x[0] + twice.x[1] + twice.x[2] + twice.x[3]);
  const auto of_card = [&](int begin) { return held[begin < middle ? begin : begin - middle + 32]; };
  for (int h = lane; h < hands; h += 32) row[h] = all - of_card(cards[2 * h]) - of_card(cards[2 * h + 1]) + reach[h];
}

// Replaces reach by that of weaker less that of stronger hands that share no card: sums over hands in the order of strength up to the first and
// up to the last that ties, less the same among the hands of both cards. Lists are those of a board, in the order of strength; so is `order`
// [per_lane, 32], of which a lane has one column. `places` [hands] has these counts of hands: among all, 16 bits each, and among those of the
// first and of the second card, 8 bits each.
struct __align__(8) Place { u32 all, held; };
extern "C" __global__ void __launch_bounds__(THREADS) show(const int* spot, const short* cards, const short* lists, const short* order,
    const Place* places, float* rows, int count, int rows_each, int hands, int longest, int shorter, int per_lane) {
  ROW
  float* held = reinterpret_cast<float*>(memory) + threadIdx.x / 32 * ((longest + shorter + 2 + per_lane) * 32 + 4 + hands + 4);
  float *before = held + (longest + shorter + 2) * 32, *reach = before + per_lane * 32 + 4;
  read_row(reach, row, hands, number < count);
  lists += board * (longest + shorter) * 32 + lane;
  float first = 0.f, second = 0.f;
#pragma unroll 4
  for (int i = 0; i < longest; ++i) {
    held[i * 32 + lane] = first;
    first += reach[lists[i * 32]];
  }
  held[longest * 32 + lane] = first;
  lists += longest * 32;
#pragma unroll 4
  for (int i = 0; i < shorter; ++i) {
    held[middle + i * 32 + lane] = second;
    second += reach[lists[i * 32]];
  }
  held[middle + shorter * 32 + lane] = second;
  order += board * per_lane * 32 + lane;
  float own = 0.f;
#pragma unroll 4
  for (int i = 0; i < per_lane; ++i) {
    before[lane * per_lane + i] = own;
    own += reach[order[i * 32]];
  }
  float sum = own;
#pragma unroll
  for (int by = 1; by < 32; by *= 2) {
    const float lower = __shfl_up_sync(~0u, sum, by, 32);
    if (lane >= by) sum += lower;
  }
  for (int i = 0; i < per_lane; ++i) before[lane * per_lane + i] += sum - own;
  if (lane == 31) before[per_lane * 32] = sum;
  __syncthreads();
  if (number >= count) return;
  const float all = before[per_lane * 32];
  places += board * hands;
  const auto of_card = [&](int begin, int weaker, int not_stronger) {
    const float* sums = held + begin;
    return sums[weaker * 32] + sums[not_stronger * 32] - sums[(begin < middle ? longest : shorter) * 32];
  };
  for (int h = lane; h < hands; h += 32) {
    const Place place = places[h];
    row[h] = before[place.all & 0xffff] + before[place.all >> 16] - all
        - of_card(cards[2 * h], place.held & 0xff, place.held >> 8 & 0xff) - of_card(cards[2 * h + 1], place.held >> 16 & 0xff, place.held >> 24);
  }
}

// total[p, leaf, h] += chance * sum over the maps of p's boards of values[board, leaf, place of h there]. A thread has one hand.
extern "C" __global__ void __launch_bounds__(THREADS) gather(
    const int* first_map, const int* map_board, const short* place, const float* values, float* total, int leaves, int hands, int first_parent,
    int first_board, int map_begin, int map_end, float chance) {
  const int tiles = (hands + THREADS - 1) / THREADS, row = blockIdx.x / tiles, h = blockIdx.x % tiles * THREADS + threadIdx.x;
  if (h >= hands) return;
  const int parent = first_parent + row / leaves, leaf = row % leaves;
  const int begin = max(first_map[parent], map_begin), end = min(first_map[parent + 1], map_end);
  float sum = 0.f;
#pragma unroll 8
  for (int m = begin; m < end; m++) {
    const int at = place[(size_t)m * hands + h];
    if (at < hands) sum += values[((size_t)(map_board[m] - first_board) * leaves + leaf) * hands + at];
  }
  total[(size_t)row * hands + h] += chance * sum;
}
