#include "precompile/manifest.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "arguments.hpp"
#include "jitbag/error.hpp"
#include "precompile/json_value.hpp"
#include "strategy_text.hpp"

namespace jitbag::tools {
namespace {

constexpr std::int64_t any_lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t any_highest = std::numeric_limits<std::int64_t>::max();

std::vector<Target> targets_of(const JsonValue& value) {
  std::vector<Target> targets;
  for_each(value, [&](const JsonValue& item) {
    if (!item.json.is_string()) item.refuse("give an architecture, such as \"sm_90\"");
    try {
      targets.push_back(parse_target(item.json.get_ref<const std::string&>()));
    } catch (const Error&) {  // its sentence would repeat the text, which may be long or odd
      item.refuse("give an architecture from sm_75 up, such as \"sm_90\"");
    }
  });
  return targets;
}

std::vector<std::optional<Strategy>> strategies_of(const JsonValue& value) {
  std::vector<std::optional<Strategy>> strategies;
  for_each(value, [&](const JsonValue& item) {
    if (item.json.is_null()) return strategies.emplace_back(std::nullopt), void();
    if (!item.json.is_string())
      item.refuse("give a strategy's text, or null for the built-in rule");
    try {
      strategies.emplace_back(parse_strategy(item.json.get_ref<const std::string&>()));
    } catch (const UsageError&) {
      item.refuse(fmt::format("write it as \"{}\", each of these once", to_text(Strategy{})));
    }
  });
  return strategies;
}

/// One entry of `kernels`. Its names are those of the flags, and so are the values of what it
/// leaves out.
class KernelEntry {
 public:
  explicit KernelEntry(const JsonValue& value)
      : object_(value, {"operator", "pooling", "embedding_dim", "layout", "embedding_bag_size",
                        "dtype", "id_type", "offset_type", "offsets_end", "padding_id", "bad_ids",
                        "addressing", "expected_batch", "strategy", "arch"}) {}

  [[nodiscard]] KernelLists lists() const {
    static_cast<void>(words_or("operator", {embedding_bag_mean}, embedding_bag_mean));
    refuse_other_poolings();
    KernelLists lists;
    lists.dims = whole_numbers(object_.at("embedding_dim"), 1, largest_dim);
    lists.bags = bags();
    for (const auto& type :
         words_or("dtype", {"float16", "bfloat16", "float32"}, flags_.data_types))
      lists.data_types.push_back(parse_data_type(type));
    for (const auto& type : words_or("id_type", {"int32", "int64"}, flags_.id_types))
      lists.id_types.push_back(parse_integer_type(type));
    for (const auto& policy : words_or("bad_ids", {"skip", "report", "trust"}, flags_.bad_ids))
      lists.bad_ids.push_back(parse_bad_ids(policy));
    lists.padding_ids = {parse_padding_id(flags_.padding_id)};
    if (object_.has("padding_id"))
      lists.padding_ids = optional_numbers(object_.at("padding_id"), any_lowest, any_highest);
    lists.addressing = addressing();
    lists.expected_batches = {flags_.expected_batch};
    if (object_.has("expected_batch"))
      lists.expected_batches = optional_numbers(object_.at("expected_batch"), 1, largest_batch);
    lists.strategies = {std::nullopt};
    if (object_.has("strategy")) lists.strategies = strategies_of(object_.at("strategy"));
    if (object_.has("arch")) lists.targets = targets_of(object_.at("arch"));
    return lists;
  }

 private:
  [[nodiscard]] std::vector<std::string> words_or(const std::string& name,
                                                  const std::vector<std::string>& allowed,
                                                  const std::string& otherwise) const {
    return object_.has(name) ? words(object_.at(name), allowed) : std::vector{otherwise};
  }

  void refuse_other_poolings() const {
    if (!object_.has("pooling")) return;
    for_each(object_.at("pooling"), [](const JsonValue& item) {
      if (item.json != "mean") item.refuse("only \"mean\" is there yet");
    });
  }

  [[nodiscard]] std::vector<BagLayout> bags() const {
    const auto layouts = words_or("layout", {"fixed", "csr"}, flags_.layout);
    const auto has = [&](const char* layout) {
      return std::ranges::find(layouts, layout) != layouts.end();
    };
    std::vector<BagLayout> bags;
    if (has("fixed")) {
      for (const std::int64_t size :
           whole_numbers(object_.at("embedding_bag_size"), 0, largest_dim))
        bags.emplace_back(FixedBags{size});
    } else {
      refuse_useless("embedding_bag_size", "fixed");
    }
    if (has("csr")) {
      for (const auto& type : words_or("offset_type", {"int32", "int64"}, flags_.offset_types)) {
        for (const auto& end : words_or("offsets_end", {"included", "implied"}, flags_.offsets_end))
          bags.emplace_back(CsrBags{parse_integer_type(type), parse_offsets_end(end)});
      }
    } else {
      refuse_useless("offset_type", "csr");
      refuse_useless("offsets_end", "csr");
    }
    return bags;
  }

  void refuse_useless(const std::string& name, std::string_view layout) const {
    if (object_.has(name))
      object_.at(name).refuse(
          fmt::format("it has no use here: leave it out, or add \"{}\" to layout", layout));
  }

  [[nodiscard]] std::vector<Addressing> addressing() const {
    if (!object_.has("addressing")) return {Addressing::bits32};
    std::vector<Addressing> addressing;
    for_each(object_.at("addressing"), [&](const JsonValue& item) {
      if (item.json != 32 && item.json != 64) item.refuse("give 32 or 64");
      addressing.push_back(item.json == 32 ? Addressing::bits32 : Addressing::bits64);
    });
    return addressing;
  }

  JsonObject object_;
  KernelFlags flags_;
};

void require_version(const JsonValue& value) {
  if (value.json != 1) value.refuse("this jitbag reads manifests of version 1");
}

}  // namespace

std::vector<KernelLists> parse_manifest(std::string_view text, std::string_view name,
                                        const std::vector<Target>& targets) {
  const nlohmann::json document = parse_json(text, name);
  const JsonObject manifest({document, "", name}, {"jitbag_manifest", "arch", "kernels"});
  require_version(manifest.at("jitbag_manifest"));
  const auto common =
      manifest.has("arch") ? targets_of(manifest.at("arch")) : std::vector<Target>{};
  std::vector<KernelLists> all;
  std::uint64_t kernels = 0;
  for_each(manifest.at("kernels"), [&](const JsonValue& value) {
    KernelLists lists = KernelEntry(value).lists();
    lists.where = fmt::format("{}: {}", name, value.path);
    if (!targets.empty())
      lists.targets = targets;
    else if (lists.targets.empty())
      lists.targets = common;
    if (lists.targets.empty())
      throw UsageError(fmt::format(
          "{}: {}.arch is missing; give it here, at the top for all kernels, or as --arch", name,
          value.path));
    add_combinations(kernels, lists);
    all.push_back(std::move(lists));
  });
  return all;
}

}  // namespace jitbag::tools
