#include "table_set.hpp"

#include <spdlog/fmt/fmt.h>

#include "kernel_json.hpp"

namespace jitbag::tools {
namespace {

/// What one table can have of its own: a set has one schedule, planned for one batch.
bool is_of_one_table(const KernelAxis& axis) {
  return axis.name != "expected_batch" && axis.name != "strategy";
}

std::vector<std::string> table_names() {
  std::vector<std::string> names = {"count", "table_rows", "mean_bag_size", "indices", "offsets"};
  for (const KernelAxis& axis : kernel_axes()) {
    if (is_of_one_table(axis)) names.push_back(axis.name);
  }
  return names;
}

std::vector<std::string> one_value(const JsonValue& value, const KernelAxis& axis) {
  std::vector<std::string> texts = values_of(value, axis);
  if (texts.size() != 1) value.refuse("give one value: a table of a set has one of each");
  return texts;
}

std::string file_or(const JsonObject& table, const std::string& name) {
  if (!table.has(name)) return {};
  const JsonValue value = table.at(name);
  if (!value.json.is_string() || value.json.get_ref<const std::string&>().empty())
    value.refuse("give the path of a .npy file");
  return value.json.get<std::string>();
}

std::int64_t number_or(const JsonObject& table, const std::string& name, std::int64_t lowest,
                       std::int64_t highest, std::int64_t otherwise) {
  return table.has(name) ? whole_number(table.at(name), lowest, highest) : otherwise;
}

/// Adds one entry of `tables` to the set, as often as it counts.
class TableReader {
 public:
  TableReader(const JsonObject& around, const KernelFlags& otherwise)
      : around_(around), otherwise_(otherwise) {}

  void add(const JsonValue& value, TableSet& set) const {
    const JsonObject table(value, table_names());
    const ForwardSpec spec = spec_of(table);
    const TablesSpec::Expected expected{
        number_or(table, "table_rows", 0, largest_count, 0),
        static_cast<double>(number_or(table, "mean_bag_size", 0, largest_dim, 0))};
    const auto count = number_or(table, "count", 1, most_tables, 1);
    for (std::int64_t i = 0; i < count; ++i) {
      if (set.spec.tables.size() == most_tables)
        value.refuse(fmt::format("with it the set has more than {} tables", most_tables));
      set.spec.tables.push_back(spec);
      set.spec.expected.push_back(expected);
      set.id_files.push_back({file_or(table, "indices"), file_or(table, "offsets")});
    }
  }

 private:
  [[nodiscard]] ForwardSpec spec_of(const JsonObject& table) const {
    KernelChoice choice;
    for (const auto& values :
         settings([&](const KernelAxis& axis) { return texts_of(table, axis); }))
      values.front()(choice);
    return choice.spec;
  }

  [[nodiscard]] std::vector<std::string> texts_of(const JsonObject& table,
                                                  const KernelAxis& axis) const {
    if (!is_of_one_table(axis)) return {};
    if (table.has(axis.name)) return one_value(table.at(axis.name), axis);
    if (axis.name == "layout" && table.has("offsets")) return {"csr"};
    if (around_.has(axis.name)) return one_value(around_.at(axis.name), axis);
    if (axis.name == "embedding_dim" || axis.name == "embedding_bag_size")
      return one_value(table.at(axis.name), axis);  // refuses: it is not there
    return values_of(otherwise_, axis);
  }

  const JsonObject& around_;
  const KernelFlags& otherwise_;
};

}  // namespace

std::vector<std::string> table_set_names() {
  std::vector<std::string> names = {"tables"};
  for (const KernelAxis& axis : kernel_axes()) {
    if (is_of_one_table(axis)) names.push_back(axis.name);
  }
  return names;
}

TableSet read_tables(const JsonObject& object, const KernelFlags& otherwise) {
  TableSet set;
  const TableReader reader(object, otherwise);
  for_each(object.at("tables"), [&](const JsonValue& value) { reader.add(value, set); });
  return set;
}

}  // namespace jitbag::tools
