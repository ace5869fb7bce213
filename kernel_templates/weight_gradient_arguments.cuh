// What the kernel of the weights' gradient reads and writes beside BagArguments.
struct WeightGradientArguments {
  const void* output_gradient;
  void* weight_gradient;  // one for each id
};
