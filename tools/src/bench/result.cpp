#include "bench/result.hpp"

#include "statistics.hpp"

namespace jitbag::tools::bench {
namespace {

std::vector<double> operations_per_sec(const Result& result, const Options& options) {
  std::vector<double> rates;
  for (const double seconds : result.elapsed_sec)
    rates.push_back(static_cast<double>(options.steps) / seconds);
  return rates;
}

/// `name` and `name_mean`, `name_median`, `name_p95`; the plain name is the mean.
void add_statistics(Json& json, const std::string& name, const std::vector<double>& values) {
  const bool none = values.empty();
  json[name] = none ? Json(nullptr) : number(mean(values));
  json[name + "_mean"] = json[name];
  json[name + "_median"] = none ? Json(nullptr) : number(median(values));
  json[name + "_p95"] = none ? Json(nullptr) : number(percentile(values, 95));
}

Json runs_json(const std::vector<double>& elapsed, const std::vector<double>& steps,
               const std::vector<double>& rates) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < elapsed.size(); ++i)
    runs.push_back({{"elapsed_sec", number(elapsed[i])},
                    {"step_time_ms", number(steps[i])},
                    {"ops_per_sec", number(rates[i])}});
  return runs;
}

Json kernel_json(const KernelFacts& kernel) {
  return {{"key", kernel.key},
          {"compiler", kernel.compiler},
          {"registers", kernel.registers},
          {"shared_bytes", kernel.shared_bytes},
          {"spill_bytes", kernel.spill_bytes},
          {"cubin_bytes", kernel.cubin_bytes},
          {"codegen_ms", number(kernel.times.codegen_ms)},
          {"disk_ms", number(kernel.times.disk_ms)},
          {"remote_ms", number(kernel.times.remote_ms)},
          {"open_ms", number(kernel.times.open_ms)},
          {"compile_ms", number(kernel.times.compile_ms)}};
}

void add_device_time(Json& json, const std::optional<DeviceTime>& time) {
  json["device_time_us_median"] = time ? number(time->median_us) : Json(nullptr);
  json["device_time_us_p95"] = time ? number(time->p95_us) : Json(nullptr);
}

void add_accuracy(Json& json, const std::optional<Accuracy>& accuracy) {
  json["max_abs_error"] = accuracy ? number(accuracy->max_abs_error) : Json(nullptr);
  json["max_rel_error"] = accuracy ? number(accuracy->max_rel_error) : Json(nullptr);
}

Json part_json(const Part& part) {
  Json json = {{"part", bench::name(part.kind)}};
  add_statistics(json, "step_time_ms", part.step_times_ms);
  add_device_time(json, part.device_time);
  json["compile_sec"] = number(compile_sec(part.kernels));
  add_accuracy(json, part.accuracy);
  json["strategy"] = part.kernels.empty() ? Json(nullptr) : Json(part.kernels.front().strategy);
  Json kernels = Json::array();
  for (const KernelFacts& kernel : part.kernels) {
    kernels.push_back(kernel_json(kernel));
    kernels.back()["kernel_source"] = jitbag::name(kernel.origin);
    kernels.back()["load_ms"] = number(kernel.times.load_ms);
  }
  json["kernels"] = kernels;
  return json;
}

void add_kernel(Json& json, const Result& result) {
  const auto& kernel = result.kernel;
  json["strategy"] = kernel ? Json(kernel->strategy) : Json(nullptr);
  json["kernel_source"] = kernel ? Json(jitbag::name(kernel->origin)) : Json(nullptr);
  json["kernel_source_path"] =
      kernel && !kernel->place.empty() ? Json(kernel->place) : Json(nullptr);
  json["load_ms"] = kernel ? number(kernel->times.load_ms) : Json(nullptr);
  json["kernel"] = kernel ? kernel_json(*kernel) : Json(nullptr);
  json["break_even_steps"] = nullptr;
  json["break_even_note"] =
      kernel ? Json("the general kernel it is measured against is not part of this version")
             : Json(nullptr);
}

}  // namespace

std::string_view name(Status status) {
  switch (status) {
    case Status::ok:
      return "ok";
    case Status::unsupported:
      return "unsupported";
    case Status::error:
      break;
  }
  return "error";
}

std::string_view name(PartKind kind) {
  switch (kind) {
    case PartKind::zero:
      return "zero";
    case PartKind::forward:
      return "forward";
    case PartKind::backward:
      return "backward";
    case PartKind::backward_and_step:
      return "backward_and_step";
    case PartKind::clear:
      break;
  }
  return "clear";
}

Result unsupported(std::string backend, std::string reason) {
  Result result;
  result.backend = std::move(backend);
  result.status = Status::unsupported;
  result.error = std::move(reason);
  return result;
}

Result failed(std::string backend, std::string reason) {
  Result result = unsupported(std::move(backend), std::move(reason));
  result.status = Status::error;
  return result;
}

std::optional<double> compile_sec(const std::vector<KernelFacts>& kernels) {
  if (kernels.empty()) return std::nullopt;
  double sum_ms = 0;
  for (const KernelFacts& kernel : kernels) {
    if (kernel.origin != KernelOrigin::compiled) continue;
    sum_ms += kernel.times.codegen_ms + kernel.times.open_ms + kernel.times.compile_ms;
  }
  return sum_ms / 1000;
}

std::optional<double> compile_sec(const Result& result) {
  std::vector<KernelFacts> kernels;
  for (const Part& part : result.parts)
    kernels.insert(kernels.end(), part.kernels.begin(), part.kernels.end());
  if (kernels.empty() && result.kernel) kernels = {*result.kernel};
  return compile_sec(kernels);
}

std::vector<double> step_times_ms(const Result& result, const Options& options) {
  std::vector<double> times;
  for (const double seconds : result.elapsed_sec)
    times.push_back(seconds * 1000 / static_cast<double>(options.steps));
  return times;
}

std::optional<double> step_time_ms(const Result& result, const Options& options) {
  if (result.elapsed_sec.empty()) return std::nullopt;
  return mean(step_times_ms(result, options));
}

std::optional<double> gb_per_s(const Result& result, const Options& options) {
  if (!result.bytes_moved) return std::nullopt;
  if (result.device_time) return *result.bytes_moved / (result.device_time->median_us * 1e3);
  if (result.elapsed_sec.empty()) return std::nullopt;
  return *result.bytes_moved / (median(step_times_ms(result, options)) * 1e6);
}

std::optional<double> share_of_ceiling(const Result& result, const Options& options,
                                       std::optional<double> ceiling_gb_per_s) {
  const std::optional<double> rate = gb_per_s(result, options);
  // The ceiling is the GPU's; a time of the CPU has nothing to do with it.
  if (!rate || !ceiling_gb_per_s || !result.device_time) return std::nullopt;
  return *rate / *ceiling_gb_per_s;
}

Json to_json(const Result& result, const Options& options, std::optional<double> ceiling) {
  const auto text = [](const std::string& value) {
    return value.empty() ? Json(nullptr) : Json(value);
  };
  const std::vector<double> steps = step_times_ms(result, options);
  const std::vector<double> rates = operations_per_sec(result, options);
  Json json = {{"backend", result.backend},
               {"status", name(result.status)},
               {"resolved_backend", text(result.resolved_backend)}};
  add_statistics(json, "elapsed_sec", result.elapsed_sec);
  add_statistics(json, "step_time_ms", steps);
  add_statistics(json, "ops_per_sec", rates);
  json["measured_steps"] = result.elapsed_sec.empty() ? 0 : options.steps;
  json["warmup_steps"] = options.warmup_steps;
  json["repeats"] = options.repeats;
  json["successful_repeats"] = result.elapsed_sec.size();
  json["compile_sec"] = number(compile_sec(result));
  add_accuracy(json, result.accuracy);
  add_device_time(json, result.device_time);
  json["host_time_us_median"] = number(result.host_time_us);
  add_kernel(json, result);
  json["bytes_moved"] = number(result.bytes_moved);
  json["gb_per_s"] = number(gb_per_s(result, options));
  json["share_of_ceiling"] = number(share_of_ceiling(result, options, ceiling));
  json["runs"] = runs_json(result.elapsed_sec, steps, rates);
  if (options.training) {
    json["parts"] = Json::array();
    for (const Part& part : result.parts) json["parts"].push_back(part_json(part));
  }
  json["error"] = text(result.error);
  return json;
}

}  // namespace jitbag::tools::bench
