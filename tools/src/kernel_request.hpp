#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "jitbag/forward_spec.hpp"
#include "jitbag/specialisation.hpp"
#include "jitbag/strategy.hpp"

/// From command-line words to specs. Every subcommand derives its specs here, so that a benchmark
/// finds on disk what precompile made.
namespace jitbag::tools {

inline constexpr const char* embedding_bag_mean = "embedding_bag_mean";
/// The largest value of a dim, of a bag size and of a count of rows or bags: their products with
/// the size of an element stay far below 2^63.
inline constexpr std::int64_t largest_dim = std::int64_t{1} << 20;
inline constexpr std::int64_t largest_count = std::int64_t{1} << 40;
inline constexpr std::int64_t largest_batch = std::int64_t{1} << 32;

/// What varies from one kernel of the command to the next.
struct KernelChoice {
  std::int64_t dim = 64;
  BagLayout bags = FixedBags{};
  DataType data_type = DataType::float32;
  IntegerType id_type = IntegerType::int64;
  std::optional<std::int64_t> padding_id;
  BadIds bad_ids = BadIds::skip;
  Addressing addressing = Addressing::bits32;
};

/// Throws UsageError.
[[nodiscard]] ForwardSpec forward_spec(const KernelChoice& choice);

/// 32-bit addresses wherever the engine allows them.
[[nodiscard]] Addressing narrowest_addressing(std::int64_t num_rows, std::int64_t num_ids,
                                              std::int64_t output_elements);

/// A padding id on the command line: a number or "none".
[[nodiscard]] std::optional<std::int64_t> parse_padding_id(const std::string& text);
[[nodiscard]] CLI::Validator padding_id_text();

/// --operator, as every subcommand has it.
void add_operator_flag(CLI::App& arguments, std::string& operator_name);

/// The arguments of `precompile` and `source` that say which kernels.
struct KernelFlags {
  std::string operator_name = embedding_bag_mean;
  std::string dims = "64";
  std::string layout = "fixed";
  std::string bag_sizes = "4";
  std::string data_types = "float32";
  std::string id_types = "int64";
  std::string offset_types = "int64";
  std::string offsets_end = "included";
  std::string padding_id = "0";
  std::string bad_ids = "skip";
  std::string addressing = "32";
  std::string strategy;
  std::optional<std::int64_t> expected_batch;
};

enum class Lists { allowed, refused };
void add_kernel_flags(CLI::App& arguments, KernelFlags& flags, Lists lists);

/// One spec for every combination of the listed values.
[[nodiscard]] std::vector<ForwardSpec> forward_specs(const KernelFlags& flags);

/// The source for a spec: by the given strategy, else by the built-in rule. Throws UsageError.
[[nodiscard]] Specialisation specialisation(const ForwardSpec& spec, const KernelFlags& flags,
                                            const Target& target);

}  // namespace jitbag::tools
