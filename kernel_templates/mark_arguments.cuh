// Marks say which rows of a table a batch names, and which of them more than once. What their
// kernels work on: their parameters, and what the engine fills in.

constexpr int rows_of_mark = 32;
// What one block numbers.
constexpr int marks_of_part = 32;

struct MarkArguments {
  // [parts, marks_of_part]: of 32 rows a bit each, in the low word where the row is named, in the
  // high one where it is repeated. 0 before.
  unsigned long long* marks;
  unsigned* named_in_chunk;  // [chunks]: rows that are named. 0 before
  int chunk_bits;            // a chunk is 2^chunk_bits rows: a power of two of parts
  long long first;           // of the output's rows whose ids are marked
  long long end;
};

// Numbers the rows that are named, in ascending order.
struct NumberMarksArguments {
  const unsigned long long* marks;
  const unsigned* named_in_chunk;
  unsigned* named_before;  // [parts, marks_of_part]: rows that are named before those of a mark
  void* gradient;          // [capacity, dim]: what is added to becomes 0
  void* rows;              // [capacity]: their numbers
  long long* count;        // {rows that were written, rows that were left out}
  long long capacity;
  unsigned parts_of_chunk;
};
