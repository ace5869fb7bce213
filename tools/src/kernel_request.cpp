#include "kernel_request.hpp"

#include <limits>

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
  const OffsetsEnd end =
      flags.offsets_end == "included" ? OffsetsEnd::included : OffsetsEnd::implied;
  for (const std::string& type : distinct_parts(flags.offset_types))
    layouts.emplace_back(CsrBags{parse_integer_type(type), end});
  return layouts;
}

/// What a spec or a strategy refuses here was said on the command line.
template <typename Make>
auto as_usage(Make make) {
  try {
    return make();
  } catch (const Error& error) {
    throw UsageError(error.what());
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
  return as_usage([&] { return validated(unchecked_spec(choice)); });
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

std::vector<ForwardSpec> forward_specs(const KernelFlags& flags) {
  std::vector<ForwardSpec> specs;
  KernelChoice choice;
  choice.padding_id = parse_padding_id(flags.padding_id);
  choice.bad_ids = parse_bad_ids(flags.bad_ids);
  for (const std::int64_t dim : whole_numbers(flags.dims)) {
    choice.dim = dim;
    for (const BagLayout& bags : layouts(flags)) {
      choice.bags = bags;
      for (const std::string& data_type : distinct_parts(flags.data_types)) {
        choice.data_type = parse_data_type(data_type);
        for (const std::string& id_type : distinct_parts(flags.id_types)) {
          choice.id_type = parse_integer_type(id_type);
          for (const std::string& bits : distinct_parts(flags.addressing)) {
            choice.addressing = bits == "32" ? Addressing::bits32 : Addressing::bits64;
            specs.push_back(forward_spec(choice));
          }
        }
      }
    }
  }
  return specs;
}

Specialisation specialisation(const ForwardSpec& spec, const KernelFlags& flags,
                              const Target& target) {
  return as_usage([&] {
    const Strategy strategy = flags.strategy.empty()
                                  ? default_strategy(spec, target, flags.expected_batch)
                                  : parse_strategy(flags.strategy);
    validate(strategy, spec, target);
    return specialise(spec, strategy, target);
  });
}

}  // namespace jitbag::tools
