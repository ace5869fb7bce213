#pragma once

#include <cstdint>

#include "jitbag/error.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"

namespace jitbag {

/// Whether the arguments of a launch can work with a validated spec: sizes, null pointers where
/// there are elements, alignment, and the limits of Addressing::bits32. Reads nothing that the
/// pointers point to. Throws Error(invalid_argument).
void check_arguments(const ForwardSpec& spec, const ForwardArguments& arguments);

/// The same without the output's address, for who only reads.
void check_inputs(const ForwardSpec& spec, const ForwardArguments& arguments);

/// An id outside the table, and where it stands.
struct BadId {
  std::int64_t id = 0;
  std::int64_t position = 0;  ///< within its bag
  std::int64_t bag = 0;
};

/// The sentence for it, as Error(bad_id).
[[nodiscard]] Error bad_id_error(const BadId& bad, std::int64_t num_rows);

}  // namespace jitbag
