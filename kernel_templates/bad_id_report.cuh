// How a bad id reaches the host: memory of the host that the device writes. Read by kernels and by
// the engine alike.
struct BadIdReport {
  unsigned int lock;   // held while a thread of the device writes
  unsigned int found;  // 0: nothing, or being written; else another number after each writing
  long long position;  // within the ids of the launch; the lowest one found
  long long position_in_bag;
  long long id;
  long long bag;
  long long num_rows;
};
