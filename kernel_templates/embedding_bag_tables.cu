// Embedding bags of a set of tables: bags are dealt out in slots of slot_bags, and for each slot
// there is one and the same list of blocks, with which table and bags of the slot each computes.

extern "C" __global__ void __launch_bounds__(block_threads)
    embedding_bag_tables(const TableEntry* tables, const TableBlock* blocks, int64 blocks_per_slot,
                         int64 slot_bags, BagArguments joined, int64 first_slot,
                         BadInputReport* report) {
  if constexpr (waits_for_previous_kernel) let_next_kernel_start_and_wait_for_previous();
  __shared__ uint32 shared[shared_words];
  const uint32 slot = blockIdx.x / (uint32)blocks_per_slot;
  const TableBlock block = blocks[blockIdx.x - slot * (uint32)blocks_per_slot];
  pool_block(tables[block.table], joined, block, first_slot + slot, slot_bags, report, shared);
}
