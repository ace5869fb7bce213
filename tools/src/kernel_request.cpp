#include "kernel_request.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <bit>
#include <limits>
#include <unordered_set>
#include <utility>

#include "arguments.hpp"
#include "jitbag/error.hpp"
#include "strategy_text.hpp"

namespace jitbag::tools {
namespace {

std::vector<BagLayout> layouts(const KernelFlags& flags) {
  std::vector<BagLayout> layouts;
  if (flags.layout == "fixed") {
    for (const std::int64_t size : whole_numbers(flags.bag_sizes))
      layouts.emplace_back(FixedBags{size});
    return layouts;
  }
  for (const std::string& type : distinct_parts(flags.offset_types))
    layouts.emplace_back(CsrBags{parse_integer_type(type), parse_offsets_end(flags.offsets_end)});
  return layouts;
}

[[noreturn]] void refuse(const KernelLists& lists, const std::string& sentence) {
  throw UsageError(lists.where.empty() ? sentence : lists.where + ": " + sentence);
}

/// Requests, each once.
class DifferentRequests {
 public:
  void add(const KernelRequest& request) {
    const std::string text =
        to_text(request.spec) + to_text(request.strategy) + to_text(request.target);
    if (seen_.insert(text).second) requests_.push_back(request);
  }
  [[nodiscard]] std::vector<KernelRequest> all() && { return std::move(requests_); }

 private:
  std::vector<KernelRequest> requests_;
  std::unordered_set<std::string> seen_;
};

template <typename Use>
void for_each_spec(const KernelLists& lists, Use use) {
  KernelChoice choice;
  for (const std::int64_t dim : lists.dims) {
    choice.dim = dim;
    for (const BagLayout& bags : lists.bags) {
      choice.bags = bags;
      for (const DataType data_type : lists.data_types) {
        choice.data_type = data_type;
        for (const IntegerType id_type : lists.id_types) {
          choice.id_type = id_type;
          for (const auto& padding_id : lists.padding_ids) {
            choice.padding_id = padding_id;
            for (const BadIds bad_ids : lists.bad_ids) {
              choice.bad_ids = bad_ids;
              for (const Addressing addressing : lists.addressing) {
                choice.addressing = addressing;
                use(forward_spec(choice));
              }
            }
          }
        }
      }
    }
  }
}

/// As Engine::forward plans: of a batch only the power of two counts.
std::optional<std::int64_t> planned_batch(const std::optional<std::int64_t>& expected) {
  if (!expected) return std::nullopt;
  return static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(*expected)));
}

void add_requests(const KernelLists& lists, const ForwardSpec& spec, DifferentRequests& requests) {
  for (const auto& given : lists.strategies) {
    for (const auto& batch : lists.expected_batches) {
      for (const Target& target : lists.targets) {
        const Strategy strategy =
            given ? *given : default_strategy(spec, target, planned_batch(batch));
        validate(strategy, spec, target);
        requests.add({spec, strategy, target});
      }
    }
  }
}

ForwardSpec unchecked_spec(const KernelChoice& choice) {
  return {.dim = choice.dim,
          .bags = choice.bags,
          .pooling = Pooling::mean,
          .table_type = choice.data_type,
          .output_type = choice.data_type,
          .id_type = choice.id_type,
          .padding_id = choice.padding_id,
          .bad_ids = choice.bad_ids,
          .row_stride = choice.dim,
          .alignment = 16,
          .addressing = choice.addressing};
}

}  // namespace

ForwardSpec forward_spec(const KernelChoice& choice) {
  try {
    return validated(unchecked_spec(choice));
  } catch (const Error& error) {  // it was said on the command line
    throw UsageError(error.what());
  }
}

Addressing narrowest_addressing(std::int64_t num_rows, std::int64_t num_ids,
                                std::int64_t output_elements) {
  constexpr std::int64_t limit = std::int64_t{1} << 31;
  const bool narrow = num_rows < limit && num_ids < limit && output_elements < limit;
  return narrow ? Addressing::bits32 : Addressing::bits64;
}

std::optional<std::int64_t> parse_padding_id(const std::string& text) {
  if (text == "none") return std::nullopt;
  return whole_numbers(text).front();
}

OffsetsEnd parse_offsets_end(std::string_view name) {
  return name == "included" ? OffsetsEnd::included : OffsetsEnd::implied;
}

CLI::Validator padding_id_text() {
  const CLI::Validator number = whole_number(std::numeric_limits<std::int64_t>::min(),
                                             std::numeric_limits<std::int64_t>::max());
  return CLI::Validator(
      [number](std::string& text) -> std::string {
        if (text == "none" || number(text).empty()) return {};
        return "'" + text + "' is not possible, give a whole number or none";
      },
      "");
}

void add_operator_flag(CLI::App& arguments, std::string& operator_name) {
  arguments.add_option("--operator", operator_name, "What to compute: embedding_bag_mean")
      ->check(one_of({embedding_bag_mean}))
      ->type_name("NAME");
}

void add_kernel_flags(CLI::App& arguments, KernelFlags& flags, Lists lists) {
  const auto values = [lists](CLI::Validator part) {
    return lists == Lists::allowed ? list_of(std::move(part)) : part;
  };
  const std::string kind = lists == Lists::allowed ? "LIST" : "VALUE";
  add_operator_flag(arguments, flags.operator_name);
  arguments.add_option("--embedding-dim", flags.dims, "Columns of the table")
      ->check(values(whole_number(1, largest_dim)))
      ->type_name(kind);
  arguments.add_option("--layout", flags.layout, "Bags of one size (fixed), or offsets (csr)")
      ->check(one_of({"fixed", "csr"}))
      ->type_name("fixed|csr");
  arguments
      .add_option("--embedding-bag-size", flags.bag_sizes, "Ids in each bag; csr has no use for it")
      ->check(values(whole_number(0, largest_dim)))
      ->type_name(kind);
  arguments.add_option("--dtype", flags.data_types, "float32, float16, bfloat16")
      ->check(values(one_of({"float16", "bfloat16", "float32"})))
      ->type_name(kind);
  arguments.add_option("--id-type", flags.id_types, "Type of the ids: int32, int64")
      ->check(values(one_of({"int32", "int64"})))
      ->type_name(kind);
  arguments.add_option("--offset-type", flags.offset_types, "Type of the offsets of csr bags")
      ->check(values(one_of({"int32", "int64"})))
      ->type_name(kind);
  arguments
      .add_option("--offsets-end", flags.offsets_end,
                  "Whether the offsets hold the end of the last bag (batch + 1 of them) or not")
      ->check(one_of({"included", "implied"}))
      ->type_name("included|implied");
  arguments.add_option("--padding-id", flags.padding_id, "The id that is skipped and not counted")
      ->check(padding_id_text())
      ->type_name("ID|none");
  arguments.add_option("--bad-ids", flags.bad_ids, "What an id outside the table does")
      ->check(one_of({"skip", "report", "trust"}))
      ->type_name("skip|report|trust");
  arguments
      .add_option("--addressing", flags.addressing,
                  "Bits of addresses: 32 serves fewer than 2^31 rows, ids and outputs")
      ->check(values(one_of({"32", "64"})))
      ->type_name(kind);
  arguments
      .add_option("--expected-batch", flags.expected_batch,
                  "The batch that the built-in rule plans for; unset: one that fills the GPU")
      ->check(whole_number(1, largest_batch))
      ->type_name("N");
  arguments
      .add_option(
          "--strategy", flags.strategy,
          "How to compute it, instead of the built-in rule: \"" + to_text(Strategy{}) + "\"")
      ->type_name("TEXT");
}

KernelLists kernel_lists(const KernelFlags& flags, std::vector<Target> targets) {
  KernelLists lists{.dims = whole_numbers(flags.dims),
                    .bags = layouts(flags),
                    .padding_ids = {parse_padding_id(flags.padding_id)},
                    .bad_ids = {parse_bad_ids(flags.bad_ids)},
                    .expected_batches = {flags.expected_batch},
                    .strategies = {std::nullopt},
                    .targets = std::move(targets)};
  for (const std::string& type : distinct_parts(flags.data_types))
    lists.data_types.push_back(parse_data_type(type));
  for (const std::string& type : distinct_parts(flags.id_types))
    lists.id_types.push_back(parse_integer_type(type));
  for (const std::string& bits : distinct_parts(flags.addressing))
    lists.addressing.push_back(bits == "32" ? Addressing::bits32 : Addressing::bits64);
  if (!flags.strategy.empty()) lists.strategies = {parse_strategy(flags.strategy)};
  return lists;
}

void add_combinations(std::uint64_t& kernels, const KernelLists& lists) {
  std::uint64_t product = 1;
  for (const std::size_t size :
       {lists.dims.size(), lists.bags.size(), lists.data_types.size(), lists.id_types.size(),
        lists.padding_ids.size(), lists.bad_ids.size(), lists.addressing.size(),
        lists.expected_batches.size(), lists.strategies.size(), lists.targets.size()}) {
    // Either factor is at most one more than the limit, so that nothing overflows.
    product = std::min(product * std::min<std::uint64_t>(size, most_kernels + 1), most_kernels + 1);
  }
  kernels += product;
  if (kernels > most_kernels)
    refuse(lists,
           fmt::format("these are more than {} kernels; shorten a list or a range", most_kernels));
}

std::vector<KernelRequest> kernel_requests(const std::vector<KernelLists>& lists) {
  std::uint64_t kernels = 0;
  for (const KernelLists& list : lists) add_combinations(kernels, list);
  DifferentRequests different;
  for (const KernelLists& list : lists) {
    try {
      for_each_spec(list, [&](const ForwardSpec& spec) { add_requests(list, spec, different); });
    } catch (const Error& error) {
      refuse(list, error.what());
    } catch (const UsageError& error) {
      refuse(list, error.what());
    }
  }
  return std::move(different).all();
}

Specialisation specialisation(const KernelRequest& request) {
  return specialise(request.spec, request.strategy, request.target);
}

}  // namespace jitbag::tools
