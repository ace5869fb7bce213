// How bad input reaches the host: memory of the host that the device writes. Read by kernels and by
// the engine alike.
struct BadInputReport {
  unsigned int lock;   // held while a thread of the device writes
  unsigned int found;  // 0: nothing, or being written; else another number after each writing
  long long table;     // within a set of tables; -1: there is no set
  // The lowest table and bag found; of those its place, if that is bad, else its first bad id.
  long long bag;
  long long is_bag;    // 1: the bag is not among the ids. 0: an id of it is not in the table
  long long position;  // id: within the bag. bag: where it begins
  long long value;     // id: the id. bag: where it ends
  long long limit;     // id: rows of the table. bag: the number of ids
};
