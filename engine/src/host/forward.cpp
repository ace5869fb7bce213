#include <omp.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "host/bag_work.hpp"
#include "host/pooled_bag.hpp"
#include "host/threads.hpp"
#include "jitbag/host.hpp"
#include "spec/arguments.hpp"
#include "spec/refuse.hpp"

namespace jitbag::host {
namespace {

/// Refuses what can never work.
void check(const ForwardSpec& spec, const ForwardArguments& arguments) {
  check_arguments(spec, arguments);
  if (!spec.end.empty()) {
    refuse(
        "The spec has an end, \"{}\", which is CUDA and does not run on the CPU; leave it empty "
        "here.",
        spec.end.element);
  }
}

/// Computes all bags, and returns what there is to report of the first one with bad input.
template <class Number>
std::optional<BadInput> compute(const ForwardSpec& spec, const ForwardArguments& arguments,
                                int threads) {
  const BagWork<Number> work(spec, arguments);
  const BagRange units = work.units();
  const std::int64_t number = std::max<std::int64_t>(0, units.end - units.begin);
  const int count = thread_count(threads, number);
  if (count == 0 || spec.dim == 0) return std::nullopt;

  std::vector<PooledBag<Number>> bags(static_cast<std::size_t>(count),
                                      PooledBag<Number>(spec, arguments));
  // Small enough to even out bags of different sizes, large enough to be dealt out rarely.
  const std::int64_t share = std::max<std::int64_t>(1, number / (count * std::int64_t{16}));
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t bad_unit = none;
#pragma omp parallel for num_threads(count) schedule(dynamic, share) reduction(min : bad_unit)
  for (std::int64_t unit = units.begin; unit < units.end; ++unit) {
    const bool is_bad = work.compute(unit, bags[static_cast<std::size_t>(omp_get_thread_num())]);
    if (is_bad) bad_unit = std::min(bad_unit, unit);
  }
  if (bad_unit == none) return std::nullopt;
  return work.bad_input(bad_unit);
}

std::optional<BadInput> compute_any(const ForwardSpec& spec, const ForwardArguments& arguments,
                                    int threads) {
  return spec.table_type == DataType::float64 ? compute<double>(spec, arguments, threads)
                                              : compute<float>(spec, arguments, threads);
}

void check_table(const AloneTable& table, std::size_t number) {
  try {
    check(table.spec, table.arguments);
  } catch (const Error& error) {
    throw Error(error.kind(), fmt::format("Table {}: {}", number, error.what()));
  }
}

}  // namespace

void forward(const ForwardSpec& given_spec, const ForwardArguments& arguments, int threads) {
  const ForwardSpec spec = validated(given_spec);
  check(spec, arguments);
  if (const auto bad = compute_any(spec, arguments, threads)) throw bad_input_error(*bad);
}

void forward(const TablesSpec& spec, std::span<const ForwardArguments> tables,
             const JoinedArguments& joined, int threads) {
  const std::vector<AloneTable> all = alone(spec, tables, joined);
  for (std::size_t t = 0; t < all.size(); ++t) check_table(all[t], t);
  std::optional<BadInput> first_bad;
  for (std::size_t t = 0; t < all.size(); ++t) {
    auto bad = compute_any(all[t].spec, all[t].arguments, threads);
    if (!bad || first_bad) continue;
    bad->table = static_cast<std::int64_t>(t);
    first_bad = bad;
  }
  if (first_bad) throw bad_input_error(*first_bad);
}

}  // namespace jitbag::host
