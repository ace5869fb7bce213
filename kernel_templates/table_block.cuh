// One block's work for one table of a set.

inline BagArguments arguments_of(const TableEntry& entry, const BagArguments& joined,
                                 int table_number) {
  BagArguments arguments = entry.arguments;
  if constexpr (bags_are_joined) {
    arguments.batch = joined.batch;
    arguments.num_ids = joined.num_ids;
    arguments.ids = (const Id*)joined.ids + entry.ids_before * joined.batch;
    arguments.weights = (const Weight*)joined.weights + entry.ids_before * joined.batch;
    arguments.offsets = (const Offset*)joined.offsets + table_number * joined.batch;
  }
  if constexpr (outputs_are_side_by_side) {
    arguments.output = (Output*)joined.output + entry.columns_before;
  }
  return arguments;
}

inline void pool_table_block(const TableEntry& entry, const BagArguments& joined,
                             const TableBlock& block, int64 slot, int64 slot_bags,
                             BadInputReport* report, uint32* shared) {
  const Input in = input_of(arguments_of(entry, joined, block.table), report, block.table);
  const int64 end_of_slot = (slot + 1) * slot_bags;
  const int64 end_of_rows = end_of_output_rows(in);
  pool_bags(in, (Index)(slot * slot_bags + block.first_bag),
            (Index)(end_of_slot < end_of_rows ? end_of_slot : end_of_rows), block.tile, shared);
}
