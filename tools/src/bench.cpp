#include <spdlog/fmt/fmt.h>

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <new>
#include <optional>

#include "arguments.hpp"
#include "bench/backend.hpp"
#include "bench/gpu.hpp"
#include "bench/id_file.hpp"
#include "bench/options.hpp"
#include "bench/report.hpp"
#include "bench/tables_bench.hpp"
#include "bench/training.hpp"
#include "bench/workload.hpp"
#include "command.hpp"
#include "jitbag/device.hpp"
#include "jitbag/error.hpp"
#include "jitbag/host.hpp"
#include "machine.hpp"
#include "output.hpp"
#include "progress.hpp"

namespace jitbag::tools {
namespace {

using bench::HostBuffer;
using bench::Job;
using bench::Options;
using bench::Result;
using bench::ShapeReport;
using bench::Status;
using bench::Workload;

/// The GPU that is measured, if any: its context lives as long as the run.
struct Gpu {
  explicit Gpu(const device::Info& found) : info(found), context(found.ordinal) {}
  device::Info info;
  device::Context context;
};

/// The spec of a workload that has everything but its sets of ids.
ForwardSpec spec_of(const Options& options, const Workload& workload, std::int64_t dim,
                    const BagLayout& bags, std::optional<std::int64_t> padding_id) {
  KernelChoice choice = choice_of(options, dim);
  choice.spec.bags = bags;
  choice.spec.padding_id = padding_id;
  // What the gradient of a maximum is made of.
  choice.spec.winners = options.training && choice.spec.pooling.has(Pooling::max);
  const std::int64_t output_rows =
      choice.spec.pooling.has(Pooling::none) ? workload.num_ids : workload.batch;
  choice.spec.addressing = narrowest_addressing(workload.num_rows, workload.num_ids,
                                                output_rows * output_width(choice.spec));
  return forward_spec(choice);
}

/// As many sets as fit, `ids` being made for each.
void add_sets(const Options& options, Workload& workload,
              const std::function<HostBuffer(std::size_t set)>& ids) {
  const std::size_t sets = bench::rotating_sets(options.steps, workload.set_bytes());
  for (std::size_t set = 0; set < sets; ++set) {
    workload.id_sets.push_back(ids(set));
    if (workload.spec.weight_type)
      workload.weight_sets.push_back(
          bench::random_weights(workload.num_ids, *workload.spec.weight_type, options.seed, set));
  }
}

Workload random_workload(const Options& options, std::int64_t dim, std::int64_t bag_size) {
  Workload workload;
  workload.num_rows = options.vocab_size + 1;
  workload.batch = options.batch;
  workload.num_ids = options.batch * bag_size;
  workload.spec = spec_of(options, workload, dim, FixedBags{bag_size}, 0);
  add_sets(options, workload, [&](std::size_t set) {
    return bench::random_ids(workload.num_ids, options.vocab_size, options.padding_prob,
                             workload.spec.id_type, options.seed, set);
  });
  return workload;
}

Workload file_workload(const Options& options, const bench::IdFile& file, std::int64_t dim) {
  Workload workload;
  workload.num_rows = file.largest_id + 1;
  workload.batch = file.batch;
  workload.num_ids = static_cast<std::int64_t>(file.ids.size());
  workload.spec = spec_of(options, workload, dim, file.bags, parse_padding_id(options.padding_id));
  if (!options.id_type_given) workload.spec.id_type = file.id_type;
  workload.spec = validated(workload.spec);
  if (const auto* csr = std::get_if<CsrBags>(&file.bags))
    workload.offsets = bench::integers(file.offsets, csr->offset_type);
  add_sets(options, workload,
           [&](std::size_t) { return bench::integers(file.ids, workload.spec.id_type); });
  return workload;
}

std::vector<double> expected_output(const Workload& workload) {
  std::vector<double> expected(static_cast<std::size_t>(workload.output_elements()));
  host::oracle(workload.spec, workload.arguments(0, expected.data()), expected.data());
  return expected;
}

Result run_backend(const std::string& backend, const Job& job, Engine& engine, const Gpu* gpu) {
  const bool trains = job.training != nullptr;
  if (backend == "cpu") return trains ? bench::run_cpu_training(job) : bench::run_cpu(job);
  if (backend == "reference" && trains)
    return bench::unsupported(backend, "is what others are compared with, and takes no steps");
  if (backend == "reference") return bench::run_reference(job);
  if (backend == "jit_alone")
    return bench::unsupported(backend, "is about many tables: give --tables");
  if (backend != "jit")
    return bench::unsupported(backend, "measured by the Python benchmark, not by this program");
  if (gpu == nullptr)
    return bench::unsupported(backend, "runs on a GPU, and this run is on the CPU");
  return trains ? bench::run_jit_training(job, engine) : bench::run_jit(job, engine);
}

/// A backend that fails is a result that says so; the others still run.
Result run_safely(const std::string& backend, const Job& job, Engine& engine, const Gpu* gpu) {
  try {
    return run_backend(backend, job, engine, gpu);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::missing_library)
      return bench::unsupported(backend, error.what());
    const std::string& details = error.details();
    return bench::failed(
        backend, details.empty() ? error.what() : std::string(error.what()) + "\n" + details);
  } catch (const std::bad_alloc&) {
    return bench::failed(backend, "there is not enough memory for this shape");
  }
}

ShapeReport report_of(const Workload& workload) {
  ShapeReport report{.batch = workload.batch,
                     .table_rows = workload.num_rows,
                     .dim = workload.spec.dim,
                     .padding_id = workload.spec.padding_id,
                     .spec = workload.spec,
                     .rotating_sets = workload.sets()};
  if (const auto* fixed = std::get_if<FixedBags>(&workload.spec.bags))
    report.bag_size = fixed->size;
  return report;
}

/// Short enough to stand in one line with the rest of the progress.
std::string shape_text(const ShapeReport& report) {
  if (!report.bag_size) return fmt::format("dim {}", report.dim);
  return fmt::format("dim {}, bag {}", report.dim, *report.bag_size);
}

/// Runs every backend on one shape after the other.
class Sweep {
 public:
  Sweep(const Options& options, const Gpu* gpu, std::size_t shapes)
      : options_(options),
        gpu_(gpu),
        backends_(bench::backends(options, gpu != nullptr)),
        progress_("bench", static_cast<std::int64_t>(shapes * backends_.size()) * options.repeats) {
  }

  void run(Workload workload) {
    std::optional<bench::Training> training;
    if (options_.training) training = bench::training_of(options_, workload);
    progress_.now(fmt::format("making the input, dim {}", workload.spec.dim));
    workload.table = table_for(workload);
    const std::vector<double> expected = expected_output(workload);
    ShapeReport report = report_of(workload);
    if (training) report.gradient = training->backward;
    report.limits = bench::tolerance(options_, workload.spec, workload.longest_bag());
    const Job job{options_,      workload,  expected,
                  report.limits, progress_, training ? &*training : nullptr};
    for (const std::string& backend : backends_) {
      progress_.now(fmt::format("{}, {}", backend, shape_text(report)));
      report.results.push_back(run_safely(backend, job, engine_, gpu_));
      const auto timed = static_cast<std::int64_t>(report.results.back().elapsed_sec.size());
      progress_.advance(options_.repeats - timed);
    }
    reports_.push_back(std::move(report));
  }

  [[nodiscard]] const std::vector<ShapeReport>& reports() const { return reports_; }

 private:
  /// Shapes that differ in their bags only share a table.
  std::shared_ptr<const bench::HostTable> table_for(const Workload& workload) {
    if (!table_ || table_dim_ != workload.spec.dim) {
      table_.reset();
      table_dim_ = workload.spec.dim;
      table_ = std::make_shared<bench::HostTable>(
          bench::random_table(workload.num_rows, workload.spec, options_.seed));
    }
    return table_;
  }

  const Options& options_;
  const Gpu* gpu_;
  std::vector<std::string> backends_;
  Progress progress_;
  Engine engine_;
  std::shared_ptr<const bench::HostTable> table_;
  std::int64_t table_dim_ = 0;
  std::vector<ShapeReport> reports_;
};

OffsetsEnd offsets_end(const Options& options) {
  return options.offsets_end == "included" ? OffsetsEnd::included : OffsetsEnd::implied;
}

std::vector<ShapeReport> measure(const Options& options, const Gpu* gpu) {
  const std::vector<std::int64_t> dims = whole_numbers(options.dims);
  if (!options.indices_file.empty()) {
    const bench::IdFile file = bench::read_id_file({.indices = options.indices_file,
                                                    .offsets = options.offsets_file,
                                                    .offsets_end = offsets_end(options)});
    Sweep sweep(options, gpu, dims.size());
    for (const std::int64_t dim : dims) sweep.run(file_workload(options, file, dim));
    return sweep.reports();
  }
  const std::vector<std::int64_t> bag_sizes = whole_numbers(options.bag_sizes);
  Sweep sweep(options, gpu, dims.size() * bag_sizes.size());
  for (const std::int64_t dim : dims) {
    for (const std::int64_t bag_size : bag_sizes)
      sweep.run(random_workload(options, dim, bag_size));
  }
  return sweep.reports();
}

bench::Machine machine_of(const Gpu* gpu) {
  if (gpu == nullptr) return {.device_name = processor_name()};
  return {.on_gpu = true,
          .device_name = gpu->info.name,
          .driver_version = device::driver().version,
          .ceiling_gb_per_s = bench::measure_ceiling_gb_per_s(gpu->info)};
}

/// Says each failure on standard error; true when there was one.
bool say_failures(const std::vector<Result>& results, const std::string& what) {
  bool any = false;
  for (const Result& result : results) {
    if (result.status != Status::error) continue;
    say_error(fmt::format("{} on {}: {}", result.backend, what, result.error));
    any = true;
  }
  return any;
}

bool say_failures(const std::vector<ShapeReport>& shapes) {
  bool any = false;
  for (const ShapeReport& shape : shapes)
    any = say_failures(shape.results, to_text(shape.spec)) || any;
  return any;
}

int run_tables(const Options& options, const Gpu* gpu) {
  const bench::TablesReport report =
      bench::measure_tables(options, gpu == nullptr ? nullptr : &gpu->info);
  const bench::Machine machine = machine_of(gpu);
  if (wants_json(options.json))
    print_json(bench::to_json(report, options, machine));
  else
    fmt::print("{}", bench::to_table(report, options, machine));
  return say_failures(report.results, options.tables) ? exit_failed : exit_done;
}

int run(const Options& options) {
  std::optional<Gpu> gpu;
  if (const auto found = bench::find_gpu(options.device)) gpu.emplace(*found);
  const Gpu* const used = gpu ? &*gpu : nullptr;
  if (!options.tables.empty()) return run_tables(options, used);
  const bench::Machine machine = machine_of(used);
  const std::vector<ShapeReport> shapes = measure(options, used);
  if (wants_json(options.json))
    print_json(bench::to_json(shapes, options, machine));
  else if (options.training)
    fmt::print("{}", bench::to_training_table(shapes, options, machine));
  else
    fmt::print("{}", bench::to_table(shapes, options, machine));
  return say_failures(shapes) ? exit_failed : exit_done;
}

}  // namespace

Command add_bench(CLI::App& program) {
  CLI::App* arguments = program.add_subcommand(
      "bench", "Measure embedding bags: kernels compiled for the shape, the CPU, the definition");
  auto options = std::make_shared<Options>();
  bench::add_flags(*arguments, *options);
  arguments->footer(
      "A LIST is one value or several with commas between them; every combination is measured.\n"
      "Every output is checked against a float64 reference before it is timed. Compile time is "
      "never\npart of a step time; device time is the GPU's alone, by replaying a graph over "
      "rotating ids.");
  return {arguments, [arguments, options] {
            options->id_type_given = arguments->count("--id-type") > 0;
            bench::take_pooling_of_operator(*arguments, *options);
            bench::require_consistent(*arguments, *options);
            return run(*options);
          }};
}

}  // namespace jitbag::tools
