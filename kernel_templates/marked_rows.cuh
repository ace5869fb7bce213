// Where a row that is marked comes among those of the sparse gradient.

// An id that is the only one of its row writes the row, which is then never cleared or read. Of a
// maximum it has won some of the columns alone.
constexpr bool writes_lone_rows = !has_winners;

// Of 32 rows those that are added to.
inline uint32 added_to_of(uint64 marks) {
  return writes_lone_rows ? (uint32)(marks >> 32) : (uint32)marks;
}
