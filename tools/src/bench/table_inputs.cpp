#include "bench/table_inputs.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>
#include <unordered_set>

#include "arguments.hpp"
#include "bench/dlrm_dcnv2.hpp"
#include "bench/id_file.hpp"
#include "bench/random_bits.hpp"
#include "bench/workload.hpp"
#include "file.hpp"
#include "jitbag/error.hpp"
#include "table_set.hpp"

namespace jitbag::tools::bench {
namespace {

constexpr std::uint64_t largest_file = std::uint64_t{16} << 20;

struct NamedSet {
  TableSet set;
  std::filesystem::path folder;  ///< where the set's files are named from
};

NamedSet read_set(const Options& options) {
  const bool is_known = options.tables == dlrm_dcnv2_name;
  const std::string text = is_known ? dlrm_dcnv2 : read_file(options.tables, largest_file);
  const nlohmann::json document = parse_json(text, options.tables);
  const JsonObject object({document, "", options.tables}, table_set_names());
  return {read_tables(object, options.kernel),
          is_known ? std::filesystem::path() : std::filesystem::path(options.tables).parent_path()};
}

/// Takes real ids, and what follows from them.
void read_ids(TableInput& table, TablesSpec::Expected& expected, const TableSet::IdFiles& files,
              const std::filesystem::path& folder) {
  IdFile file = read_id_file(
      {.indices = (folder / files.indices).string(), .offsets = (folder / files.offsets).string()});
  // What is before the first offset is in no bag.
  const std::int64_t before = file.offsets.front();
  file.ids.erase(file.ids.begin(), file.ids.begin() + before);
  for (std::int64_t& offset : file.offsets) offset -= before;
  file.ids.resize(static_cast<std::size_t>(file.offsets.back()));
  table.num_ids = file.offsets.back();
  table.ids = std::move(file.ids);
  table.offsets = std::move(file.offsets);
  table.num_rows = std::max(expected.num_rows, file.largest_id + 1);
  expected.num_rows = table.num_rows;
  if (expected.bag_size == 0)
    expected.bag_size =
        static_cast<double>(table.num_ids) / static_cast<double>(table.offsets.size() - 1);
}

class Maker {
 public:
  explicit Maker(const Options& options) : options_(options), named_(read_set(options)) {
    inputs_.spec = named_.set.spec;
    inputs_.spec.bags = TablesSpec::Bags::joined;
    inputs_.spec.outputs = TablesSpec::Outputs::side_by_side;
    inputs_.seed = static_cast<std::uint64_t>(options.seed);
  }

  TableInputs made() && {
    const auto& files = named_.set.id_files;
    const auto has_files = [](const TableSet::IdFiles& file) { return !file.offsets.empty(); };
    const bool is_real = std::ranges::all_of(files, has_files);
    if (!is_real && std::ranges::any_of(files, has_files))
      refuse("has ids in files for some tables only; give indices and offsets for all or none");
    inputs_.batch = options_.batch;
    for (std::size_t t = 0; t < files.size(); ++t) is_real ? add_real(t) : add_random(t);
    place_ids();
    finish_specs(is_real);
    return std::move(inputs_);
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw UsageError(fmt::format("{}: it {}", options_.tables, problem));
  }

  void add_real(std::size_t t) {
    if (named_.set.id_files[t].indices.empty())
      refuse(fmt::format("has offsets without indices for table {}", t));
    TableInput table;
    read_ids(table, inputs_.spec.expected[t], named_.set.id_files[t], named_.folder);
    const auto batch = static_cast<std::int64_t>(table.offsets.size()) - 1;
    if (t > 0 && batch != inputs_.batch)
      refuse(fmt::format("has {} bags for table {} and {} for table 0; they must be as many", batch,
                         t, inputs_.batch));
    inputs_.batch = batch;
    inputs_.tables.push_back(std::move(table));
  }

  void add_random(std::size_t t) {
    if (!named_.set.id_files[t].indices.empty())
      refuse(fmt::format("has indices without offsets for table {}", t));
    TablesSpec::Expected& expected = inputs_.spec.expected[t];
    if (expected.num_rows < 1) refuse(fmt::format("lacks table_rows for table {}", t));
    const auto* fixed = std::get_if<FixedBags>(&inputs_.spec.tables[t].bags);
    if (fixed == nullptr)
      refuse(
          fmt::format("has csr bags without ids for table {}; give embedding_bag_size, and "
                      "--layout csr where offsets shall say it",
                      t));
    expected.bag_size = static_cast<double>(fixed->size);
    inputs_.tables.push_back({.num_rows = expected.num_rows,
                              .bag_size = fixed->size,
                              .num_ids = inputs_.batch * fixed->size});
  }

  void place_ids() {
    for (TableInput& table : inputs_.tables) {
      table.first_id = inputs_.num_ids;
      inputs_.num_ids += table.num_ids;
    }
  }

  void finish_specs(bool is_real) {
    for (const ForwardSpec& table : inputs_.spec.tables)
      inputs_.output_width += output_width(table);
    for (std::size_t t = 0; t < inputs_.tables.size(); ++t) {
      ForwardSpec& spec = inputs_.spec.tables[t];
      if (is_real || options_.layout == "csr") spec.bags = CsrBags{};
      spec.addressing = narrowest_addressing(inputs_.tables[t].num_rows, inputs_.num_ids,
                                             inputs_.batch * inputs_.output_width);
    }
    try {
      inputs_.spec = validated(inputs_.spec);
    } catch (const Error& error) {
      throw UsageError(fmt::format("{}: {}", options_.tables, error.what()));
    }
    for (std::size_t t = 0; t < inputs_.tables.size(); ++t)
      inputs_.tables[t].rows = row_parts(inputs_.spec.tables[t], random_bits(inputs_.seed, t));
  }

  const Options& options_;
  NamedSet named_;
  TableInputs inputs_;
};

std::int64_t weight_bytes(const ForwardSpec& spec) {
  return spec.weight_type ? size_of(*spec.weight_type) : 0;
}

}  // namespace

std::uint64_t TableInputs::id_stream(std::size_t table, std::size_t set) const {
  return random_bits(random_bits(~seed, table), set);
}

std::uint64_t TableInputs::weight_stream(std::size_t set) const {
  return random_bits(~seed, tables.size() + set);
}

std::int64_t TableInputs::id_at(std::size_t table, std::size_t set, std::int64_t position) const {
  const TableInput& input = tables[table];
  if (!input.ids.empty()) return input.ids[static_cast<std::size_t>(position)];
  return static_cast<std::int64_t>(number_at(id_numbers(table), id_stream(table, set), position));
}

std::vector<std::int64_t> TableInputs::joined_offsets() const {
  std::vector<std::int64_t> offsets;
  if (!is_csr()) return offsets;
  for (const TableInput& table : tables) {
    for (std::int64_t bag = 0; bag < batch; ++bag)
      offsets.push_back(table.first_id + table.bag_begin(bag));
  }
  offsets.push_back(num_ids);
  return offsets;
}

std::int64_t TableInputs::output_bytes() const {
  return batch * output_width * size_of(spec.tables.front().output_type);
}

std::int64_t TableInputs::set_bytes() const {
  return num_ids * (size_of(id_type()) + weight_bytes(spec.tables.front())) + output_bytes();
}

std::vector<Lookups> TableInputs::lookups() const {
  std::vector<Lookups> all;
  for (std::size_t t = 0; t < tables.size(); ++t) {
    const TableInput& table = tables[t];
    const ForwardSpec& one = spec.tables[t];
    const auto count = static_cast<double>(table.num_ids);
    const double distinct =
        table.ids.empty()
            ? expected_distinct(static_cast<double>(table.num_rows), count)
            : static_cast<double>(
                  std::unordered_set<std::int64_t>(table.ids.begin(), table.ids.end()).size());
    all.push_back({count, distinct, static_cast<double>(row_bytes(one) + scale_bytes(one))});
  }
  return all;
}

double TableInputs::rest_bytes() const {
  const auto num_offsets =
      is_csr() ? batch * static_cast<std::int64_t>(tables.size()) + 1 : std::int64_t{0};
  return static_cast<double>(set_bytes() + num_offsets * size_of(IntegerType::int64));
}

TableInputs table_inputs(const Options& options) {
  return Maker(options).made();
}

}  // namespace jitbag::tools::bench
