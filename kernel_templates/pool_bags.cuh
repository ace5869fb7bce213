// One block's work: a group of lanes_per_row * bag_lanes lanes computes a bag, or one tile of its
// columns where a row is wider than the group holds. Each lane issues the loads of rows_in_flight
// rows before it adds the first: the gather is bound by how many bytes are on their way (an H200
// needs about 25 KB for each SM).

// Unrolled up to this many ids, a loop above: code size and compile time grow with each.
constexpr int unroll_limit = 16;

// Short bags are gathered several at a time.
constexpr int bags_that_fit = gathers_at_once ? rows_in_flight / in_flight : 1;
constexpr int bags_in_flight = bags_that_fit < bags_per_group ? bags_that_fit : bags_per_group;
constexpr bool lanes_meet = bag_lanes > 1 || rows_meet;

// In both loops the ids of the next chunk are on their way while the rows of this one are.
inline void add_run_of_one_length(Pool& pool, const Input& in, const Lane& lane) {
  if constexpr (run_length > 0) {
    Run run = run_of_one_length(lane);
    Ids<in_flight> ids = load_ids<in_flight>(in, run, true);
#pragma unroll(run_length <= unroll_limit && chunks > 0 ? chunks : 1)
    for (int chunk = 0; chunk < chunks; ++chunk) {
      const Rows<in_flight> rows = load_rows<in_flight>(in, lane, run.position, ids);
      run.position += in_flight;
      if (chunk + 1 < chunks) ids = load_ids<in_flight>(in, run, true);
      add<in_flight>(pool, rows);
    }
    if constexpr (rest > 0) {
      const Ids<rest_or_1> last = load_ids<rest_or_1>(in, run, true);
      add<rest_or_1>(pool, load_rows<rest_or_1>(in, lane, run.position, last));
    }
  }
}

inline void add_csr_run(Pool& pool, const Input& in, const Lane& lane) {
  const int64 begin = raw_begin_of(in, (int64)lane.row);
  const int64 end = raw_end_of(in, (int64)lane.row);
  if (bad_ids == report_ids) pool.met_bad_input = is_bad_bag(in, begin, end);
  Run run = {(Index)within_ids(in, begin) + lane.bag_lane, (Index)within_ids(in, end)};
  Ids<rows_in_flight> ids = load_ids<rows_in_flight>(in, run, true);
#pragma unroll 1
  while (run.position < run.end) {
    const Rows<rows_in_flight> rows = load_rows<rows_in_flight>(in, lane, run.position, ids);
    run.position += rows_in_flight * id_step;
    ids = load_ids<rows_in_flight>(in, run, true);
    add<rows_in_flight>(pool, rows);
  }
}

inline void finish(Pool& pool, const Input& in, const Lane& lane, int thread, uint32* shared) {
  const bool met_bad_input = pool.met_bad_input;
  if constexpr (bag_lanes > 1) merge_in_warp(pool);
  if constexpr (warps_per_group > 1) merge_across_warps(pool, thread, shared);
  const bool stores = lane.works && lane.bag_lane == 0;
  if (rows_meet || stores) store_pool(pool, in, lane, stores);
  if (bad_ids == report_ids && met_bad_input && lane.row_lane == 0 && lane.tile == 0) {
    report_row(in, (int64)lane.row);
  }
}

// The rows of the output from `first` to before `end` that are this block's share.
inline void pool_bags(const Input& in, Index first, Index end, int tile, uint32* shared) {
  const int thread = (int)threadIdx.x;
  const int group = thread / group_lanes;
  const int in_group = thread % group_lanes;
  const auto lane_of = [&](int i) {
    return lane_of_group(in, first, end, tile, group, in_group, i);
  };
  // Lanes that meet others must stay; of the rest those may leave whose group has nothing to do.
  if (!lanes_meet && (lane_of(0).row >= end || group >= groups_per_block)) return;
  if constexpr (gathers_at_once) {
    Ids<in_flight> ids[bags_in_flight];
    const auto load_ids_from = [&](int i) {
#pragma unroll
      for (int b = 0; b < bags_in_flight; ++b) {
        const Lane lane = lane_of(i + b);
        ids[b] = load_ids<in_flight>(in, run_of_one_length(lane), lane.works);
      }
    };
    load_ids_from(0);
#pragma unroll 1
    for (int i = 0; i < bags_per_group; i += bags_in_flight) {
      Rows<in_flight> rows[bags_in_flight];
#pragma unroll
      for (int b = 0; b < bags_in_flight; ++b) {
        const Lane lane = lane_of(i + b);
        rows[b] = load_rows<in_flight>(in, lane, run_of_one_length(lane).position, ids[b]);
      }
      if (bags_in_flight < bags_per_group) load_ids_from(i + bags_in_flight);
#pragma unroll
      for (int b = 0; b < bags_in_flight; ++b) {
        Pool pool = empty_pool();
        add<in_flight>(pool, rows[b]);
        finish(pool, in, lane_of(i + b), thread, shared);
      }
    }
  } else {
#pragma unroll 1
    for (int i = 0; i < bags_per_group; ++i) {
      const Lane lane = lane_of(i);
      Pool pool = empty_pool();
      if (lane.works) {
        if constexpr (has_runs_of_one_length) {
          add_run_of_one_length(pool, in, lane);
        } else {
          add_csr_run(pool, in, lane);
        }
      }
      finish(pool, in, lane, thread, shared);
    }
  }
}
