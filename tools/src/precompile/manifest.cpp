#include "precompile/manifest.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "arguments.hpp"
#include "jitbag/error.hpp"
#include "json/value.hpp"
#include "kernel_json.hpp"
#include "table_set.hpp"

namespace jitbag::tools {
namespace {

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

/// The operator's name, checked and of no further use: there is one.
void check_operator(const JsonObject& entry) {
  if (entry.has("operator"))
    static_cast<void>(words(entry.at("operator"), {embedding_bag, embedding_bag_mean}));
}

std::vector<std::string> names_of_kernels() {
  std::vector<std::string> names = {"operator", "arch"};
  for (const KernelAxis& axis : kernel_axes()) names.push_back(axis.name);
  return names;
}

/// One entry of `kernels`. Its names are those of the flags, and so are the values of what it
/// leaves out, but dim and bag size must be given.
class KernelEntry {
 public:
  explicit KernelEntry(const JsonValue& value) : object_(value, names_of_kernels()) {}

  [[nodiscard]] KernelLists lists() const {
    check_operator(object_);
    refuse_useless(texts_of(kernel_axis("layout")));
    KernelLists lists{.axes = settings([&](const KernelAxis& axis) { return texts_of(axis); })};
    if (object_.has("arch")) lists.targets = targets_of(object_.at("arch"));
    return lists;
  }

 private:
  [[nodiscard]] std::vector<std::string> texts_of(const KernelAxis& axis) const {
    const bool must_be_there = axis.name == "embedding_dim" || axis.name == "embedding_bag_size";
    if (must_be_there || object_.has(axis.name)) return values_of(object_.at(axis.name), axis);
    return values_of(flags_, axis);
  }

  void refuse_useless(const std::vector<std::string>& layouts) const {
    for (const KernelAxis& axis : kernel_axes()) {
      const std::string_view layout = layout_of(axis);
      if (!layout.empty() && object_.has(axis.name) &&
          std::ranges::find(layouts, layout) == layouts.end())
        object_.at(axis.name).refuse(
            fmt::format("it has no use here: leave it out, or add \"{}\" to layout", layout));
    }
  }

  JsonObject object_;
  KernelFlags flags_;
};

std::vector<std::string> names_of_set() {
  std::vector<std::string> names = table_set_names();
  names.insert(names.end(), {"bags", "outputs", "expected_batch", "operator", "arch"});
  return names;
}

std::string one_word(const JsonObject& entry, const std::string& name,
                     const std::vector<std::string>& allowed) {
  if (!entry.has(name)) return allowed.front();
  const JsonValue value = entry.at(name);
  if (value.json.is_array()) value.refuse("choose one: " + alternatives(allowed));
  return words(value, allowed).front();
}

/// An entry of `kernels` with `tables`: many tables in one launch.
KernelLists set_lists(const JsonValue& value) {
  const JsonObject entry(value, names_of_set());
  check_operator(entry);
  const KernelFlags flags;
  KernelLists lists{.tables = read_tables(entry, flags).spec};
  if (one_word(entry, "bags", {"separate", "joined"}) == "joined")
    lists.tables->bags = TablesSpec::Bags::joined;
  if (one_word(entry, "outputs", {"separate", "side_by_side"}) == "side_by_side")
    lists.tables->outputs = TablesSpec::Outputs::side_by_side;
  const KernelAxis& batch = kernel_axis("expected_batch");
  std::vector<Setting> batches;
  for (const std::string& text :
       entry.has(batch.name) ? values_of(entry.at(batch.name), batch) : values_of(flags, batch))
    batches.push_back(batch.setting(text));
  lists.axes = {std::move(batches)};
  if (entry.has("arch")) lists.targets = targets_of(entry.at("arch"));
  return lists;
}

KernelLists lists_of(const JsonValue& value) {
  const bool is_set = value.json.is_object() && value.json.contains("tables");
  return is_set ? set_lists(value) : KernelEntry(value).lists();
}

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
    KernelLists lists = lists_of(value);
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
