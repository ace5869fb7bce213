#include "kernel_choice.hpp"

#include "arguments.hpp"
#include "jitbag/error.hpp"

namespace jitbag::tools {

ForwardSpec forward_spec(const KernelChoice& choice) {
  try {
    return validated(choice.spec);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

Addressing narrowest_addressing(std::int64_t num_rows, std::int64_t num_ids,
                                std::int64_t output_elements) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const bool narrow = num_rows < limit && num_ids < limit && output_elements < limit;
  return narrow ? Addressing::bits32 : Addressing::bits64;
}

}  // namespace jitbag::tools
