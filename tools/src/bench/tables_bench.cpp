#include "bench/tables_bench.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "bench/backend.hpp"
#include "bench/device_tables.hpp"
#include "bench/device_time.hpp"
#include "bench/gather_ceiling.hpp"
#include "bench/gpu.hpp"
#include "bench/sampled_bags.hpp"
#include "jitbag/error.hpp"
#include "kernel_request.hpp"

namespace jitbag::tools::bench {
namespace {

constexpr std::int64_t sampled_bags = 64;

/// A copy of part of an output row.
void read_bag(const TableInputs& inputs, const void* output, std::int64_t bag, std::int64_t column,
              std::byte* target, std::int64_t bytes) {
  const std::int64_t element = size_of(inputs.spec.tables.front().output_type);
  const auto* place =
      static_cast<const std::byte*>(output) + (bag * inputs.output_width + column) * element;
  device::copy_to_host(target, place, static_cast<std::size_t>(bytes));
}

void add(Accuracy& all, const Accuracy& one) {
  if (all.wrong == 0) all.first_wrong = one.first_wrong;
  all.wrong += one.wrong;
  // A NaN stays.
  const auto larger = [](double a, double b) { return std::isnan(a) || a > b ? a : b; };
  all.max_abs_error = larger(all.max_abs_error, one.max_abs_error);
  all.max_rel_error = larger(all.max_rel_error, one.max_rel_error);
}

/// What each table's sampled bags should be.
struct Expectation {
  SampledBags bags;
  std::vector<double> values;
};

class Measurement {
 public:
  Measurement(const Options& options, TablesReport& report, Progress& progress)
      : options_(options),
        report_(report),
        inputs_(report.inputs),
        progress_(progress),
        data_(inputs_, report.rotating_sets, engine_, stream_.get()) {
    stream_.synchronize();
    for (std::size_t t = 0; t < inputs_.tables.size(); ++t) {
      const SampledBags bags(inputs_, t, sampled_bags);
      expectations_.push_back({bags, bags.expected()});
    }
  }

  Result run(const std::string& backend) {
    if (backend == "jit") return run_together();
    if (backend == "jit_alone") return run_alone();
    return unsupported(backend, "does not take many tables: --tables has jit and jit_alone");
  }

 private:
  Result run_together() {
    const TablesKernel& kernel = engine_.tables(inputs_.spec, {.expected_batch = inputs_.batch});
    const TablesBinding binding = kernel.bind(data_.tables());
    Result result;
    result.backend = "jit";
    result.kernel =
        facts(kernel.artifact(), strategy_text({kernel.spec(), kernel.strategies(), Target{}}));
    measure(result,
            [&](std::size_t set) { kernel.launch(binding, data_.joined(set), stream_.get()); });
    return result;
  }

  Result run_alone() {
    struct One {
      const ForwardKernel* kernel;
      ForwardArguments arguments;
    };
    std::vector<std::vector<One>> launches;
    for (std::size_t set = 0; set < data_.sets(); ++set) {
      launches.emplace_back();
      for (const AloneTable& table : alone(inputs_.spec, data_.tables(), data_.joined(set)))
        launches.back().push_back(
            {&engine_.forward(table.spec, {.expected_batch = inputs_.batch}), table.arguments});
    }
    Result result;
    result.backend = "jit_alone";
    measure(result, [&](std::size_t set) {
      for (const One& one : launches[set]) one.kernel->launch(one.arguments, stream_.get());
    });
    return result;
  }

  void measure(Result& result, const Launch& launch) {
    result.resolved_backend = result.backend + ":" + to_text(device::devices().front().target);
    data_.poison(0, stream_.get());
    launch(0);
    stream_.synchronize();
    engine_.check();
    if (!check(result)) return;
    result.elapsed_sec =
        time_repeats(options_, data_.sets(), progress_, launch, [&] { stream_.synchronize(); });
    result.device_time = measure_device(launch, data_.sets(), stream_);
    result.host_time_us = measure_host_us(launch, data_.sets(), stream_);
    result.bytes_moved = report_.bytes_moved;
  }

  /// Compares the sampled bags of every table.
  bool check(Result& result) {
    const void* const output = data_.joined(0).output;
    result.accuracy = Accuracy{};
    std::size_t elements = 0;
    std::int64_t column = 0;
    for (std::size_t t = 0; t < expectations_.size(); ++t) {
      const ForwardSpec& spec = inputs_.spec.tables[t];
      const std::int64_t width = output_width(spec);
      const std::int64_t bytes = width * size_of(spec.output_type);
      const std::vector<std::int64_t>& bags = expectations_[t].bags.bags();
      const HostBuffer got(static_cast<std::int64_t>(bags.size()) * bytes);
      for (std::size_t i = 0; i < bags.size(); ++i)
        read_bag(inputs_, output, bags[i], column,
                 got.data() + static_cast<std::int64_t>(i) * bytes, bytes);
      Accuracy one = compare(got.data(), spec.output_type, expectations_[t].values, width,
                             tolerance(options_, spec, expectations_[t].bags.longest()));
      if (one.wrong > 0) one.first_wrong = fmt::format("of table {}, {}", t, one.first_wrong);
      add(*result.accuracy, one);
      elements += expectations_[t].values.size();
      column += width;
    }
    return note_accuracy(result, elements, report_.limits);
  }

  const Options& options_;
  const TablesReport& report_;
  const TableInputs& inputs_;
  Progress& progress_;
  Engine engine_;
  device::OwnedStream stream_;
  DeviceTables data_;
  std::vector<Expectation> expectations_;
};

/// A backend that fails is a result that says so; the others still run.
Result run_safely(Measurement& measurement, const std::string& backend) {
  try {
    return measurement.run(backend);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::missing_library) return unsupported(backend, error.what());
    const std::string& details = error.details();
    return failed(backend,
                  details.empty() ? error.what() : std::string(error.what()) + "\n" + details);
  }
}

/// Two at least, so that no launch finds the ids and the output of the one before it.
std::size_t sets_of(const Options& options, const TableInputs& inputs) {
  return std::max<std::size_t>(2, rotating_sets(options.steps, inputs.set_bytes()));
}

std::int64_t longest_bag(const TableInputs& inputs) {
  std::int64_t longest = 0;
  for (const TableInput& table : inputs.tables) {
    longest = std::max(longest, table.bag_size);
    for (std::size_t i = 1; i < table.offsets.size(); ++i)
      longest = std::max(longest, table.offsets[i] - table.offsets[i - 1]);
  }
  return longest;
}

void measure_on(TablesReport& report, const Options& options, const device::Info& gpu,
                const std::vector<std::string>& names) {
  {
    Engine engine;
    report.ceilings = {measure_gather_gb_per_s(engine, gpu), measure_ceiling_gb_per_s(gpu)};
  }
  Progress progress("bench", static_cast<std::int64_t>(names.size()) * options.repeats);
  progress.now("writing the tables");
  Measurement measurement(options, report, progress);
  for (const std::string& backend : names) {
    progress.now(backend);
    report.results.push_back(run_safely(measurement, backend));
    const auto timed = static_cast<std::int64_t>(report.results.back().elapsed_sec.size());
    progress.advance(options.repeats - timed);
  }
}

}  // namespace

std::optional<double> TablesReport::floor_us() const {
  if (!ceilings) return std::nullopt;
  const double mixed_bytes = std::min(2 * written_bytes, floor_bytes);
  return mixed_bytes / (ceilings->copy_gb_per_s * 1e3) +
         (floor_bytes - mixed_bytes) / (ceilings->gather_gb_per_s * 1e3);
}

std::optional<double> TablesReport::floor_at_gather_us() const {
  if (!ceilings) return std::nullopt;
  return floor_bytes / (ceilings->gather_gb_per_s * 1e3);
}

std::optional<double> TablesReport::share_of_floor(const Result& result) const {
  const auto floor = floor_us();
  if (!floor || !result.device_time) return std::nullopt;
  return *floor / result.device_time->median_us;
}

TablesReport measure_tables(const Options& options, const device::Info* gpu) {
  TablesReport report{.inputs = table_inputs(options)};
  const TableInputs& inputs = report.inputs;
  report.limits = tolerance(options, inputs.spec.tables.front(), longest_bag(inputs));
  report.rotating_sets = sets_of(options, inputs);
  report.bytes_moved = all_bytes(inputs.lookups(), inputs.rest_bytes());
  report.floor_bytes = floor_bytes(inputs.lookups(), inputs.rest_bytes());
  report.written_bytes = static_cast<double>(inputs.output_bytes());
  const std::vector<std::string> names = backends(options, gpu != nullptr);
  if (gpu != nullptr) {
    measure_on(report, options, *gpu, names);
    return report;
  }
  for (const std::string& backend : names)
    report.results.push_back(
        unsupported(backend, "many tables are measured on a GPU, and this run is on the CPU"));
  return report;
}

}  // namespace jitbag::tools::bench
