#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "jitbag/backward.hpp"
#include "jitbag/error.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/kernel.hpp"
#include "jitbag/quantise.hpp"
#include "jitbag/tables.hpp"
#include "jitbag/transpose.hpp"

namespace jitbag {

/// Whether the arguments of a launch can work with a validated spec: sizes, null pointers where
/// there are elements, alignment, and the limits of Addressing::bits32. Reads nothing that the
/// pointers point to. Throws Error(invalid_argument).
void check_arguments(const ForwardSpec& spec, const ForwardArguments& arguments);

/// The same without the addresses of what is written, for who only reads.
void check_inputs(const ForwardSpec& spec, const ForwardArguments& arguments);

/// The same for backward.
void check_arguments(const BackwardSpec& spec, const BackwardArguments& arguments);

/// The same for a transposition.
void check_arguments(const TransposeSpec& spec, const TransposeArguments& arguments);

/// The same for a quantiser.
void check_arguments(const ForwardSpec& spec, const QuantiseArguments& arguments);

/// The same for a workspace of which so many bytes are needed.
void check_workspace(const void* workspace, std::int64_t bytes, std::int64_t needed);

/// The same for what a validated set has joined; checks nothing where it joins nothing.
void check_joined(const TablesSpec& spec, const JoinedArguments& joined);

/// What each table of a validated set is within it: where outputs stand side by side, with the
/// stride of them all and the alignment of its column; where ids are joined, with the alignment
/// that is left; all but the last table end where the next one begins.
[[nodiscard]] std::vector<ForwardSpec> specs_within(const TablesSpec& spec);

/// Ids of a launch, by its sizes alone.
[[nodiscard]] std::int64_t num_ids(const ForwardSpec& spec, const ForwardArguments& arguments);

/// Bags, or without pooling ids, that have a row in the output.
[[nodiscard]] std::int64_t output_rows(const ForwardSpec& spec, const ForwardArguments& arguments);

/// The first bad input of a launch: of the lowest bag that has one, its place among the ids if that
/// is bad, else the first bad id.
struct BadInput {
  enum class Kind { id, bag };
  Kind kind = Kind::id;
  std::int64_t bag = 0;
  std::int64_t position = 0;               ///< id: within its bag. bag: where it begins
  std::int64_t value = 0;                  ///< id: the id. bag: where it ends
  std::int64_t limit = 0;                  ///< id: the table's rows. bag: the number of ids
  std::optional<std::int64_t> table = {};  ///< within a set
};

/// "id 1000005 at position 17 of bag 4 is outside the table's 1000000 rows; ...", as Error(bad_id),
/// or "bag 4 is ids 7 to 3 ...", as Error(bad_offset).
[[nodiscard]] Error bad_input_error(const BadInput& bad);

}  // namespace jitbag
