#include "precompile/manifest.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "arguments.hpp"
#include "jitbag/error.hpp"
#include "strategy_text.hpp"

namespace jitbag::tools {
namespace {

using Document = nlohmann::json;
using Event = Document::parse_event_t;

/// A manifest nests six deep where it is deepest.
constexpr int deepest = 16;

constexpr std::int64_t any_lowest = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t any_highest = std::numeric_limits<std::int64_t>::max();

std::string line_and_column(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t line_begin = before.rfind('\n') + 1;  // 0 where there is none
  return fmt::format("line {}, column {}", line, before.size() - line_begin + 1);
}

/// Refuses what the parser would take without a word.
class Watch {
 public:
  explicit Watch(std::string_view file) : file_(file) {}

  void see(int depth, Event event, const Document& parsed) {
    if (depth > deepest)
      throw UsageError(
          fmt::format("{}: lists and objects are nested over {} deep; a manifest has "
                      "kernels, their values, lists and ranges",
                      file_, deepest));
    if (event == Event::object_start) names_.emplace_back();
    if (event == Event::object_end) names_.pop_back();
    if (event == Event::key && !names_.back().insert(parsed.get<std::string>()).second)
      throw UsageError(fmt::format("{}: {} stands twice in one object; give it once, with a list",
                                   file_, parsed.dump()));
  }

 private:
  std::string_view file_;
  std::vector<std::set<std::string>> names_;
};

Document parse(std::string_view text, std::string_view file) {
  Watch watch(file);
  try {
    return Document::parse(text, [&](int depth, Event event, const Document& parsed) {
      watch.see(depth, event, parsed);
      return true;
    });
  } catch (const Document::parse_error& error) {
    throw UsageError(
        fmt::format("{}: it is not JSON from {} on; see that brackets, quotes and commas are right",
                    file, line_and_column(text, error.byte)));
  } catch (const Document::exception&) {
    throw UsageError(
        fmt::format("{}: it has a number that is too large; the largest is {}", file, any_highest));
  }
}

/// The value as a person wrote it, cut to what fits in a sentence.
std::string shown(const Document& json) {
  constexpr std::size_t longest = 60;
  const std::string text = json.dump(-1, ' ', true);
  return text.size() <= longest ? text : text.substr(0, longest) + "…";
}

/// A value with the way to it: "kernels[2].embedding_dim[1]".
struct Value {
  const Document& json;
  std::string path;
  std::string_view file;

  [[noreturn]] void refuse(std::string_view allowed) const {
    throw UsageError(fmt::format("{}: {} is {}; {}", file, path.empty() ? "the manifest" : path,
                                 shown(json), allowed));
  }
  [[nodiscard]] Value item(std::size_t number) const {
    return {json[number], fmt::format("{}[{}]", path, number), file};
  }
};

/// An object of which all names are known.
class Object {
 public:
  Object(Value value, const std::vector<std::string>& names) : value_(std::move(value)) {
    if (!value_.json.is_object()) value_.refuse("give an object, in braces");
    for (const auto& [name, member] : value_.json.items()) {
      if (std::ranges::find(names, name) == names.end())
        throw UsageError(fmt::format("{}: {} has {}, which is not known; choose {}", value_.file,
                                     value_.path.empty() ? "the manifest" : value_.path,
                                     shown(name), alternatives(names)));
    }
  }

  [[nodiscard]] bool has(const std::string& name) const { return value_.json.contains(name); }

  [[nodiscard]] Value at(const std::string& name) const {
    const auto member = value_.json.find(name);
    if (member == value_.json.end())
      throw UsageError(fmt::format("{}: {} is missing", value_.file, path_of(name)));
    return {*member, path_of(name), value_.file};
  }

 private:
  [[nodiscard]] std::string path_of(const std::string& name) const {
    return value_.path.empty() ? name : value_.path + "." + name;
  }
  Value value_;
};

/// One value, or each of a list, read by `add(value)`.
template <typename Add>
void for_each(const Value& value, Add add) {
  if (!value.json.is_array()) return add(value);
  if (value.json.empty()) value.refuse("give at least one value, or leave it out");
  for (std::size_t i = 0; i < value.json.size(); ++i) add(value.item(i));
}

bool is_between(const Document& json, std::int64_t lowest, std::int64_t highest) {
  if (!json.is_number_integer()) return false;
  if (json.is_number_unsigned() && json.get<std::uint64_t>() > std::uint64_t{any_highest})
    return false;
  const auto number = json.get<std::int64_t>();
  return number >= lowest && number <= highest;
}

std::int64_t whole_number(const Value& value, std::int64_t lowest, std::int64_t highest) {
  if (!is_between(value.json, lowest, highest))
    value.refuse(fmt::format("give a whole number from {} to {}", lowest, highest));
  return value.json.get<std::int64_t>();
}

[[noreturn]] void refuse_length(const Value& value) {
  value.refuse(fmt::format("with it the list has more than {} numbers", most_kernels));
}

/// {"from": 32, "to": 256, "step": 32} or {"from": 1, "to": 64, "times": 2}; `to` is included if
/// the steps meet it.
void add_range(const Value& value, std::int64_t lowest, std::int64_t highest,
               std::vector<std::int64_t>& numbers) {
  const Object range(value, {"from", "to", "step", "times"});
  const std::int64_t from = whole_number(range.at("from"), lowest, highest);
  const std::int64_t to = whole_number(range.at("to"), lowest, highest);
  const bool multiplies = range.has("times");
  if (multiplies == range.has("step"))
    value.refuse("give either step, which is added, or times, which is multiplied by");
  if (from > to) value.refuse("give a from that is not above to");
  if (multiplies && from < 1) value.refuse("give a from of at least 1, or a step");
  const std::int64_t by = multiplies ? whole_number(range.at("times"), 2, any_highest)
                                     : whole_number(range.at("step"), 1, any_highest);
  std::int64_t number = from;
  while (true) {
    if (numbers.size() >= most_kernels) refuse_length(value);
    numbers.push_back(number);
    const bool is_next_in_range =
        multiplies ? number <= to / by
                   : static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(number) >=
                         static_cast<std::uint64_t>(by);
    if (!is_next_in_range) return;
    number = multiplies ? number * by : number + by;
  }
}

std::vector<std::int64_t> whole_numbers(const Value& value, std::int64_t lowest,
                                        std::int64_t highest) {
  std::vector<std::int64_t> numbers;
  for_each(value, [&](const Value& item) {
    if (item.json.is_object())
      add_range(item, lowest, highest, numbers);
    else
      numbers.push_back(whole_number(item, lowest, highest));
  });
  return numbers;
}

/// Numbers, ranges and null.
std::vector<std::optional<std::int64_t>> optional_numbers(const Value& value, std::int64_t lowest,
                                                          std::int64_t highest) {
  std::vector<std::optional<std::int64_t>> numbers;
  for_each(value, [&](const Value& item) {
    if (item.json.is_null()) return numbers.emplace_back(std::nullopt), void();
    if (!item.json.is_number() && !item.json.is_object())
      item.refuse("give a whole number, a range or null");
    for (const std::int64_t number : whole_numbers(item, lowest, highest))
      numbers.emplace_back(number);
    if (numbers.size() > most_kernels) refuse_length(item);
  });
  return numbers;
}

std::vector<std::string> words(const Value& value, const std::vector<std::string>& allowed) {
  std::vector<std::string> words;
  for_each(value, [&](const Value& item) {
    const bool is_known =
        item.json.is_string() &&
        std::ranges::find(allowed, item.json.get_ref<const std::string&>()) != allowed.end();
    if (!is_known) item.refuse("choose " + alternatives(allowed));
    words.push_back(item.json.get<std::string>());
  });
  return words;
}

std::vector<Target> targets_of(const Value& value) {
  std::vector<Target> targets;
  for_each(value, [&](const Value& item) {
    if (!item.json.is_string()) item.refuse("give an architecture, such as \"sm_90\"");
    try {
      targets.push_back(parse_target(item.json.get_ref<const std::string&>()));
    } catch (const Error&) {  // its sentence would repeat the text, which may be long or odd
      item.refuse("give an architecture from sm_75 up, such as \"sm_90\"");
    }
  });
  return targets;
}

std::vector<std::optional<Strategy>> strategies_of(const Value& value) {
  std::vector<std::optional<Strategy>> strategies;
  for_each(value, [&](const Value& item) {
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
  explicit KernelEntry(const Value& value)
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
    for_each(object_.at("pooling"), [](const Value& item) {
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
    for_each(object_.at("addressing"), [&](const Value& item) {
      if (item.json != 32 && item.json != 64) item.refuse("give 32 or 64");
      addressing.push_back(item.json == 32 ? Addressing::bits32 : Addressing::bits64);
    });
    return addressing;
  }

  Object object_;
  KernelFlags flags_;
};

void require_version(const Value& value) {
  if (value.json != 1) value.refuse("this jitbag reads manifests of version 1");
}

}  // namespace

std::vector<KernelLists> parse_manifest(std::string_view text, std::string_view name,
                                        const std::vector<Target>& targets) {
  const Document document = parse(text, name);
  const Object manifest({document, "", name}, {"jitbag_manifest", "arch", "kernels"});
  require_version(manifest.at("jitbag_manifest"));
  const auto common =
      manifest.has("arch") ? targets_of(manifest.at("arch")) : std::vector<Target>{};
  std::vector<KernelLists> all;
  std::uint64_t kernels = 0;
  for_each(manifest.at("kernels"), [&](const Value& value) {
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
