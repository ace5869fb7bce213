#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
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

/// "included" or "implied", checked before.
[[nodiscard]] OffsetsEnd parse_offsets_end(std::string_view name);

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

/// Lists of what varies; every combination is one kernel.
struct KernelLists {
  std::string where = {};  ///< "kernels.json: kernels[2]", for messages; empty for flags
  std::vector<std::int64_t> dims = {};
  std::vector<BagLayout> bags = {};
  std::vector<DataType> data_types = {};
  std::vector<IntegerType> id_types = {};
  std::vector<std::optional<std::int64_t>> padding_ids = {};
  std::vector<BadIds> bad_ids = {};
  std::vector<Addressing> addressing = {};
  std::vector<std::optional<std::int64_t>> expected_batches = {};  ///< for the built-in rule
  std::vector<std::optional<Strategy>> strategies = {};            ///< unset: the built-in rule
  std::vector<Target> targets = {};
};

/// What the flags say. Throws UsageError.
[[nodiscard]] KernelLists kernel_lists(const KernelFlags& flags, std::vector<Target> targets);

/// One kernel: all that its source is made from.
struct KernelRequest {
  ForwardSpec spec;
  Strategy strategy;
  Target target;
  bool operator==(const KernelRequest&) const = default;
};

/// More kernels than anyone compiles: a slip in a range.
inline constexpr std::uint64_t most_kernels = 1'000'000;

/// Adds the number of kernels that the lists make. Throws UsageError beyond `most_kernels`.
void add_combinations(std::uint64_t& kernels, const KernelLists& lists);

/// The different kernels of all the lists, in order. Throws UsageError: a combination that cannot
/// work, or more than `most_kernels`.
[[nodiscard]] std::vector<KernelRequest> kernel_requests(const std::vector<KernelLists>& lists);

[[nodiscard]] Specialisation specialisation(const KernelRequest& request);

}  // namespace jitbag::tools
