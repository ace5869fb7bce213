// One block's work: the ids of its bags, some at a time, are brought together by row in shared
// memory, so that a row is added to once for each group, however many of the ids name it. Additions
// to one row wait for each other in the L2 cache, 6 ns each (H200): in a skewed batch that is what
// binds.

constexpr int bags_per_block = groups_per_block * bags_per_group;
// Of each bag its next ids_at_once ids meet.
constexpr int uses_at_once = bags_per_block * ids_at_once;
constexpr int uses_per_thread = (uses_at_once + block_threads - 1) / block_threads;

// Of a hash table of the rows: twice as many as there can be.
constexpr int slot_bits = [] {
  int bits = 1;
  while (1 << bits < 2 * uses_at_once) ++bits;
  return bits;
}();
constexpr int slots = 1 << slot_bits;
constexpr int slots_per_thread = (slots + block_threads - 1) / block_threads;

// The positions of a bag.
struct Span {
  Index begin;
  Index end;
};

// A use is an id that counts. It is known by its number: that of its bag within the block, and of
// the id among those of the bag that are seen together. In the order of rows a flag beside the
// number says that the row has no more.
constexpr uint32 ends_row = 0x8000;
static_assert(uses_at_once <= (int)ends_row, "a use's number and its flag share 16 bits");

// What is summed at once comes by one load, where its size can be an alignment.
constexpr int bytes_in_flight = 2 * rows_in_flight;
constexpr bool is_one_load =
    bytes_in_flight <= 16 && (bytes_in_flight & (bytes_in_flight - 1)) == 0;
struct alignas(is_one_load ? bytes_in_flight : 2) UsesInFlight {
  uint16 use[rows_in_flight];
};

struct Merge {
  Span span[has_runs_of_one_length ? 1 : bags_per_block];
  Counted counted[bags_per_block];
  // Of the row that has a slot: 1 + the number of a use of it, and, in the low half, how many uses
  // it has; 0 where it is free. In the end, how many it has, and, in the low half, where they
  // begin.
  uint32 slot[slots];
  Id row[uses_at_once];
  Value weight[has_weights ? uses_at_once : 1];
  UsesInFlight by_row[(uses_at_once + rows_in_flight - 1) / rows_in_flight];
  uint32 count;  // of uses
  int rounds;
};

inline int bag_of(int use) {
  return use / ids_at_once;
}

// The bags of a block, of those from `first` to before `end`.
struct Bags {
  Index first;
  Index end;
  int tile;
};

inline Span span_of(const Input& in, const Bags& bags, const Merge& merge, int bag) {
  if constexpr (!has_runs_of_one_length) return merge.span[bag];
  const Index row = bags.first + (Index)bag;
  bool works = row < bags.end;
  if constexpr (keeps_rows && !is_fixed) works &= (int64)row >= first_output_row(in);
  // Positions after those of the last bag may be more than Index has.
  const Index begin = works ? row * (Index)bag_length : 0;
  return {begin, works ? begin + (Index)bag_length : 0};
}

inline void read_span(const Input& in, const Bags& bags, Merge& merge, int bag) {
  const int64 row = (int64)bags.first + bag;
  const bool works = row < (int64)bags.end;
  const int64 begin = works ? raw_begin_of(in, row) : 0;
  const int64 end = works ? raw_end_of(in, row) : 0;
  if (bad_ids == report_ids && bags.tile == 0 && is_bad_bag(in, begin, end)) report_row(in, row);
  const Span span = {(Index)within_ids(in, begin), (Index)within_ids(in, end)};
  merge.span[bag] = span;
  if (span.end > span.begin) {
    raise(&merge.rounds, (int)((span.end - span.begin - 1) / ids_at_once) + 1);
  }
}

// In how many rounds all ids of the block's bags are seen.
inline int begin_rounds(const Input& in, const Bags& bags, Merge& merge) {
  for (int bag = (int)threadIdx.x; bag < bags_per_block; bag += block_threads) {
    merge.counted[bag] = {};
  }
  if constexpr (has_runs_of_one_length) {
    return (int)((bag_length + ids_at_once - 1) / ids_at_once);
  } else {
    if (threadIdx.x == 0) merge.rounds = 0;
    block_barrier();
    for (int bag = (int)threadIdx.x; bag < bags_per_block; bag += block_threads) {
      read_span(in, bags, merge, bag);
    }
    block_barrier();
    return merge.rounds;
  }
}

// A thread's uses of one round.
struct Found {
  Id row[uses_per_thread];
  Value weight[uses_per_thread];
  bool counts[uses_per_thread];
  int bag_with_bad_id;  // the first one, or -1
};

inline int number_of_use(int i) {
  return i * block_threads + (int)threadIdx.x;
}

inline Found find_uses(const Input& in, const Bags& bags, const Merge& merge, int round) {
  Found found;
  found.bag_with_bad_id = -1;
#pragma unroll
  for (int i = 0; i < uses_per_thread; ++i) {
    const int use = number_of_use(i);
    Index position = 0;
    bool is_there = false;
    if (use < uses_at_once) {
      const Span span = span_of(in, bags, merge, bag_of(use));
      position = span.begin + (Index)round * ids_at_once + use % ids_at_once;
      is_there = position < span.end;
    }
    const auto loaded = load_if<(int)sizeof(Id)>(is_there, in.ids + position);
    const Id id = id_from(loaded.word);
    const bool is_padding = has_padding && id == (Id)padding_id;
    const bool is_bad = must_check && is_there && !is_padding && !is_in_table(id, in.num_rows);
    if (is_bad && found.bag_with_bad_id < 0) found.bag_with_bad_id = bag_of(use);
    found.row[i] = id;
    found.weight[i] = 1;
    found.counts[i] = is_there && !is_padding && !is_bad;
    if constexpr (has_weights) {
      const auto weight = load_if<(int)sizeof(Weight)>(found.counts[i], in.weights + position);
      found.weight[i] = (Value)element<Weight>(weight.word, 0);
    }
  }
  return found;
}

inline void count_uses(const Found& found, Merge& merge) {
#pragma unroll
  for (int i = 0; i < uses_per_thread; ++i) {
    if (!found.counts[i]) continue;
    Counted& counted = merge.counted[bag_of(number_of_use(i))];
    add_in_block(&counted.count, 1);
    if constexpr (needs_weight_sum) add_in_block(&counted.weight_sum, found.weight[i]);
  }
}

// Multiplicative hashing by the golden ratio (Knuth, The Art of Computer Programming 3, 6.4).
inline uint32 first_slot_of(Id row) {
  return (uint32)row * 2654435769u >> (32 - slot_bits);
}

// Where a use comes among those of its block.
struct UsePlace {
  uint32 slot;
  uint32 number_in_row;
};

inline UsePlace take_place(Merge& merge, int use) {
  const Id row = merge.row[use];
  uint32 slot = first_slot_of(row);
  while (true) {
    const uint32 other = take_if_zero(merge.slot + slot, (uint32)(use + 1) << 16 | 1);
    if (other == 0) return {slot, 0};
    if (merge.row[(other >> 16) - 1] == row) return {slot, take_number(merge.slot + slot) & 0xffff};
    slot = (slot + 1) % slots;
  }
}

// Beside how many uses each row has puts where they begin.
inline void place_rows(Merge& merge) {
  const int first = (int)threadIdx.x * slots_per_thread;
  uint32 count[slots_per_thread];
  uint32 of_thread = 0;
#pragma unroll
  for (int i = 0; i < slots_per_thread; ++i) {
    count[i] = first + i < slots ? merge.slot[first + i] & 0xffff : 0;
    of_thread += count[i];
  }
  uint32 place = take_numbers(&merge.count, of_thread);
#pragma unroll
  for (int i = 0; i < slots_per_thread; ++i) {
    if (first + i < slots) merge.slot[first + i] = count[i] << 16 | place;
    place += count[i];
  }
}

inline void clear_slots(Merge& merge) {
  if (threadIdx.x == 0) merge.count = 0;
  for (int slot = (int)threadIdx.x; slot < slots; slot += block_threads) merge.slot[slot] = 0;
}

inline void bring_together(const Found& found, Merge& merge, bool counts) {
#pragma unroll
  for (int i = 0; i < uses_per_thread; ++i) {
    if (!found.counts[i]) continue;
    merge.row[number_of_use(i)] = found.row[i];
    if constexpr (has_weights) merge.weight[number_of_use(i)] = found.weight[i];
  }
  block_barrier();
  if (counts) count_uses(found, merge);
  UsePlace place[uses_per_thread];
#pragma unroll
  for (int i = 0; i < uses_per_thread; ++i) {
    if (found.counts[i]) place[i] = take_place(merge, number_of_use(i));
  }
  block_barrier();
  place_rows(merge);
  block_barrier();
#pragma unroll
  for (int i = 0; i < uses_per_thread; ++i) {
    if (!found.counts[i]) continue;
    const uint32 row = merge.slot[place[i].slot];
    const uint32 number = place[i].number_in_row;
    const uint32 at = (row & 0xffff) + number;
    merge.by_row[at / rows_in_flight].use[at % rows_in_flight] =
        (uint16)((uint32)number_of_use(i) | (number + 1 == row >> 16 ? ends_row : 0));
  }
  block_barrier();
}

inline void add_use(const Merge& merge, int use, const OutputGradient& gradient, Share& sum) {
  const Counted& counted = merge.counted[bag_of(use)];
  const Value weight = has_weights ? merge.weight[use] : (Value)1;
#pragma unroll
  for (int p = 0; p < num_poolings; ++p) {
    if (pooling_at(p) == max_pooling) continue;
    add_to_share(sum, gradient, p, weight * passed_on(pooling_at(p), counted));
  }
}

// What some of the uses give their rows, summed row by row. `begin` is a multiple of
// rows_in_flight.
inline void add_sums(const Gradients& gradients, const Bags& bags, const Merge& merge, Lane lane,
                     int begin, int end) {
  Share sum = {};
#pragma unroll 1
  for (int at = begin; at < end; at += rows_in_flight) {
    const UsesInFlight uses = merge.by_row[at / rows_in_flight];
    int use[rows_in_flight];
    OutputGradient gradient[rows_in_flight];
#pragma unroll
    for (int i = 0; i < rows_in_flight; ++i) {
      lane.works = at + i < end;
      use[i] = lane.works ? (int)(uses.use[i] & (ends_row - 1)) : 0;
      lane.row = bags.first + (Index)bag_of(use[i]);
      gradient[i] = load_output_gradient(gradients.output, lane, true);
    }
    // Where a row's uses end it is added to.
    bool ends[rows_in_flight];
    Place place[rows_in_flight];
#pragma unroll
    for (int i = 0; i < rows_in_flight; ++i) {
      ends[i] = at + i < end && ((uses.use[i] & ends_row) || at + i + 1 == end);
      place[i] = place_of(gradients, merge.row[use[i]], ends[i]);
    }
#pragma unroll
    for (int i = 0; i < rows_in_flight; ++i) {
      if (at + i >= end) break;
      add_use(merge, use[i], gradient[i], sum);
      if (!ends[i]) continue;
      if (place[i].is_wanted) add_to_row(place[i], lane, gradients.factor, sum);
      sum = {};
    }
  }
}

// Winners differ from column to column: they are added bag by bag.
inline void add_all_winners(const Input& in, const Gradients& gradients, const Bags& bags,
                            Lane lane, int group) {
#pragma unroll 1
  for (int bag = group; bag < bags_per_block; bag += groups_per_block) {
    lane.row = bags.first + (Index)bag;
    lane.works = lane.row < bags.end;
    if (!lane.works) break;
    add_to_winners(in, gradients, lane, load_output_gradient(gradients.output, lane, true));
  }
}

inline void merge_bags(const Input& in, const Gradients& gradients, const Bags& bags,
                       Merge& merge) {
  const int rounds = begin_rounds(in, bags, merge);
  if (counts_first && rounds > 1) {
    block_barrier();
    for (int round = 0; round < rounds; ++round) {
      count_uses(find_uses(in, bags, merge, round), merge);
    }
  }
  Lane lane = {};
  lane.tile = bags.tile;
  lane.row_lane = (int)threadIdx.x % lanes_per_row;
  const int group = (int)threadIdx.x / lanes_per_row;
  const bool group_works = block_is_full || group < groups_per_block;
#pragma unroll 1
  for (int round = 0; round < rounds; ++round) {
    clear_slots(merge);
    const Found found = find_uses(in, bags, merge, round);
    if (bad_ids == report_ids && bags.tile == 0 && found.bag_with_bad_id >= 0) {
      report_row(in, (int64)bags.first + found.bag_with_bad_id);
    }
    bring_together(found, merge, counts_first && rounds == 1);
    const int count = (int)merge.count;
    constexpr int groups_in_flight = groups_per_block * rows_in_flight;
    const int share = (count + groups_in_flight - 1) / groups_in_flight * rows_in_flight;
    const int begin = group * share;
    const int end = begin + share < count ? begin + share : count;
    if (group_works) add_sums(gradients, bags, merge, lane, begin, end);
    block_barrier();
  }
  if constexpr (has_winners) {
    if (group_works) add_all_winners(in, gradients, bags, lane, group);
  }
}
