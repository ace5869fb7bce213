// What the kernels of backward's sorted strategy work on: their parameters, and what the engine
// fills in. A use is one id of a bag; it is known by its position among the ids.

constexpr unsigned no_row = 0xffffffffu;  // the key of an id that does not count
constexpr int most_digit_bits = 10;
constexpr int most_digits = 1 << most_digit_bits;

// The first kernel writes what the others need of ids and bags.
struct UsesArguments {
  unsigned* keys;    // [ids]: the row, or no_row
  int* bags;         // CSR: [ids], the bag of each, -1 where there is none
  void* shares;      // [batch, poolings]: what a pooling multiplies a bag's gradient by
  unsigned* digits;  // [passes, most_digits]: how many of the keys that count have each digit
  int passes;
  int digit_bits;
};

// One pass of a radix sort.
struct RadixPassArguments {
  const unsigned* keys;
  const unsigned* positions;  // null: each key's own
  unsigned* sorted_keys;
  unsigned* sorted_positions;
  const unsigned* digits;  // [most_digits], of this pass
  // [tiles, most_digits / 2]: what tiles tell each other of a pair of digits; 0 before the pass.
  unsigned long long* tiles;
  unsigned* next_tile;  // 0 before the pass
  unsigned count;
  int shift;
  int digit_bits;
};

// Numbers the rows that have uses, in ascending order.
struct NumberRowsArguments {
  const unsigned* keys;       // sorted
  unsigned long long* tiles;  // [tiles]: 0 before, then 1 + the number of rows that begin there
  unsigned* next_tile;        // 0 before
  unsigned* rows_before;      // [slices + 1]: rows that begin before a slice of the keys
  void* rows;                 // [capacity]: their numbers
  long long* count;           // {rows that were written, rows that were left out}
  long long capacity;
  unsigned keys_count;
  unsigned slice;  // keys
};

// Uses sorted by row, in slices of one length.
struct SortedUses {
  const unsigned* keys;
  const unsigned* positions;
  const int* bags;
  const void* shares;
  const unsigned* rows_before;
  // [slices, 2, dim]: the part of a row's gradient that is in a slice, where the row has more of
  // them: that of the row which a slice begins in the midst of, and of the row which it ends in.
  void* pieces;
  unsigned* long_rows;        // [slices]: in which slices long rows begin, in no order
  unsigned* long_rows_count;  // how many there are; 0 before
  unsigned count;
  unsigned slice;  // uses
};

// Where a transposition goes, in the types of its spec. Null: it is not asked for.
struct TransposedUses {
  const void* weights;
  void* begins;          // [capacity + 1]
  void* bags;            // [ids]
  void* positions;       // [ids]
  void* weights_by_row;  // [ids]
  void* inverse;         // [ids]
  long long* ids;        // how many count
  long long capacity;
  unsigned uses_per_warp;  // a multiple of a slice's and of a warp's
};

struct StepParameters;

// Where rows' gradients go.
struct RowGradientArguments {
  const void* output_gradient;
  void* rows;  // of the dense or the sparse gradient, or of the table that is stepped
  float* first_moment;
  float* second_moment;
  const StepParameters* parameters;
  long long capacity;  // of the sparse gradient
};
