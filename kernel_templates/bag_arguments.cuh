// What a launch works on: the parameter of the kernels, and what the engine fills in.
struct BagArguments {
  const void* table;
  const void* scales;
  const void* ids;
  const void* offsets;
  const void* weights;
  void* output;
  void* winners;
  const long long* counts;  // {batch, ids}, where they are on the device
  const float* end_parameters;
  long long num_rows;
  long long num_ids;
  long long batch;
};

// As jitbag::OptimizerParameters.
struct StepParameters {
  float learning_rate;
  float weight_decay;
  float max_norm;
  float momentum;
  float beta2;
  float epsilon;
  long long step;
  unsigned long long seed;
};

// What scatter and merge read and write beside that.
struct GradientArguments {
  const void* output_gradient;
  void* table_gradient;              // or the table that is stepped
  const StepParameters* parameters;  // of a step
  // Of a sparse gradient: the marks of its rows, how many are named before each, and its capacity.
  const unsigned long long* marks;
  const unsigned* named_before;
  long long capacity;
};

// One table of a set. Where the set joins ids and offsets, those of its arguments are null.
struct TableEntry {
  BagArguments arguments;
  long long ids_before;      // joined fixed bags: ids of the tables before it, for each bag
  long long columns_before;  // outputs side by side: columns of the tables before it
};

// What a block of a set's kernel computes, of the bags of its slot.
struct TableBlock {
  int table;
  int kind;       // which of the kernel's bodies
  int first_bag;  // within the slot
  int tile;
};
