#include "jitbag/engine.hpp"

#include <spdlog/fmt/fmt.h>
#include <spdlog/spdlog.h>

#include <array>
#include <functional>
#include <future>
#include <list>
#include <map>
#include <mutex>
#include <set>

#include "device/driver.hpp"
#include "device/kernel.hpp"
#include "device/reports.hpp"
#include "jitbag/error.hpp"
#include "jitbag/wisdom.hpp"
#include "runtime/artifacts.hpp"
#include "runtime/first_kernel.hpp"
#include "runtime/forward_request.hpp"
#include "runtime/kernel_map.hpp"
#include "spec/quantiser_spec.hpp"
#include "spec/transpose_spec.hpp"
#include "tuning/choose.hpp"

namespace jitbag {
namespace {

using Clock = std::chrono::steady_clock;

/// The architecture of the calling thread's device. Asked for at every lookup, so kept for each
/// device.
Target current_target() {
  constexpr std::size_t kept = 64;
  static std::array<std::atomic<int>, kept> targets{};
  const auto device = static_cast<std::size_t>(device::current_device());
  if (device >= kept) return device::target_of(static_cast<CUdevice>(device));
  int packed = targets[device].load(std::memory_order_relaxed);
  if (packed == 0) {
    const Target target = device::target_of(static_cast<CUdevice>(device));
    packed = target.major * 100 + target.minor;
    targets[device].store(packed, std::memory_order_relaxed);
  }
  return {packed / 100, packed % 100};
}

/// Values that are made once, however many threads ask at the same time. A failure reaches all who
/// waited for it and is forgotten, so that the next one tries again.
template <class Key, class Value>
class MadeOnce {
 public:
  const Value& get(const Key& key, const std::function<Value()>& make) {
    std::promise<const Value*> promise;
    std::shared_future<const Value*> future;
    {
      const std::lock_guard lock(mutex_);
      const auto [place, is_new] = futures_.try_emplace(key);
      if (!is_new) {
        future = place->second;
      } else {
        place->second = promise.get_future().share();
      }
    }
    if (future.valid()) return *future.get();
    try {
      Value made = make();
      const std::lock_guard lock(mutex_);
      values_.push_back(std::move(made));
      promise.set_value(&values_.back());
      return values_.back();
    } catch (...) {
      promise.set_exception(std::current_exception());
      const std::lock_guard lock(mutex_);
      futures_.erase(key);
      throw;
    }
  }

 private:
  std::mutex mutex_;
  std::map<Key, std::shared_future<const Value*>> futures_;
  std::list<Value> values_;  // never move
};

std::optional<std::filesystem::path> wisdom_beside(const cache::Cache& cache) {
  if (cache.folder() == nullptr) return {};
  return wisdom_directory({.directory = cache.folder()->directory()});
}

cache::Warn each_sentence_once() {
  struct Said {
    std::mutex mutex;
    std::set<std::string, std::less<>> sentences;
  };
  return [said = std::make_shared<Said>()](std::string_view sentence) {
    const std::lock_guard lock(said->mutex);
    if (said->sentences.emplace(sentence).second) spdlog::warn("jitbag: {}", sentence);
  };
}

}  // namespace

struct Engine::State {
  explicit State(const EngineOptions& options) : artifacts(options) {
    const auto folder = options.wisdom ? options.wisdom : wisdom_beside(artifacts.cache());
    if (folder && !folder->empty()) wisdom_folder.emplace(*folder);
  }

  /// What is known of the calling thread's device.
  const Wisdom& wisdom() {
    const CUdevice device = device::current_device();
    return wisdoms.get(device, [&] {
      const std::string name = device::name_of(device);
      return wisdom_folder ? wisdom_folder->read(name, warn_once) : Wisdom(name);
    });
  }

  /// The driver may refuse machine code from disk (made for another machine, or worse): that is a
  /// miss.
  Kernel load(const Specialisation& specialisation, double codegen_ms) {
    const auto with_codegen = [codegen_ms](Artifact artifact) {
      artifact.times.codegen_ms += codegen_ms;
      return device::load(std::move(artifact));
    };
    Artifact artifact = artifacts.get(specialisation);
    if (artifact.origin == KernelOrigin::compiled) return with_codegen(std::move(artifact));
    const std::string record = fmt::format("{} in {}", artifact.key, artifact.place);
    try {
      return with_codegen(std::move(artifact));
    } catch (const Error& error) {
      spdlog::warn("jitbag: The driver refused the record {}, which is compiled again: {}", record,
                   error.what());
      return with_codegen(artifacts.replace(specialisation));
    }
  }

  /// The kernel that specialise() makes of these.
  Kernel load_specialised(const auto&... what) {
    const auto start = Clock::now();
    const Specialisation specialisation = specialise(what...);
    return load(specialisation,
                std::chrono::duration<double, std::milli>(Clock::now() - start).count());
  }

  std::vector<Kernel> load_all(const std::vector<Specialisation>& specialisations) {
    std::vector<Kernel> kernels;
    kernels.reserve(specialisations.size());
    for (const Specialisation& one : specialisations) kernels.push_back(load(one, 0));
    return kernels;
  }

  /// Makes the place for reports now and not in a launch, which may be under capture.
  void prepare_reports(bool kernel_reports) {
    if (kernel_reports) static_cast<void>(reports.of_current_context());
  }

  ForwardKernel make(const ForwardSpec& spec, const Strategy& strategy, const Target& target) {
    prepare_reports(spec.bad_ids == BadIds::report);
    return {load_specialised(spec, strategy, target), spec, strategy, reports};
  }

  BackwardKernel make(const BackwardSpec& spec, const BackwardStrategy& strategy,
                      const Target& target) {
    prepare_reports(spec.forward.bad_ids == BadIds::report);
    return {load_all(specialise(spec, strategy, target)), spec, strategy, reports};
  }

  TransposeKernel make(const TransposeSpec& spec, const Target& target) {
    prepare_reports(spec.bad_ids == BadIds::report);
    const BackwardStrategy strategy =
        default_strategy(sorting_of(spec), BackwardMethod::sort, target);
    return {load_all(specialise(spec, target)), spec, strategy.shape.launch_mode, reports};
  }

  TablesKernel make(const TablesSpec& spec, const std::vector<Strategy>& strategies,
                    std::optional<std::int64_t> expected_batch, const Target& target) {
    prepare_reports(true);
    return {load_specialised(spec, strategies, target), spec, strategies, expected_batch, reports};
  }

  Artifacts artifacts;
  std::optional<WisdomFolder> wisdom_folder;
  cache::Warn warn_once = each_sentence_once();
  MadeOnce<CUdevice, Wisdom> wisdoms;
  Reports reports;
  KernelMap<ForwardRequest, ForwardKernel, ForwardRequestHash> forward_kernels;
  // By what decides a kernel: spec, strategy and target, as text.
  MadeOnce<std::array<std::string, 3>, ForwardKernel> made_forward;
  MadeOnce<std::array<std::string, 3>, BackwardKernel> made_backward;
  MadeOnce<std::vector<std::string>, TablesKernel> made_tables;
  // By spec and target, as text.
  MadeOnce<std::array<std::string, 2>, TransposeKernel> made_transposes;
  MadeOnce<std::array<std::string, 2>, Quantiser> made_quantisers;
  MadeOnce<std::vector<std::string>, Kernel> made_kernels;
};

Engine::Engine(const EngineOptions& options) : state_(std::make_unique<State>(options)) {}
Engine::~Engine() = default;

const ForwardKernel& Engine::forward(const ForwardSpec& raw, const ForwardChoice& choice) {
  const ForwardRequest request = {raw, current_target(), choice.strategy,
                                  batch_bits(choice.expected_batch)};
  if (const ForwardKernel* kernel = state_->forward_kernels.find(request)) return *kernel;

  const ForwardSpec spec = validated(raw);
  const auto made = [&](const Strategy& strategy) -> const ForwardKernel& {
    return state_->made_forward.get({to_text(spec), to_text(strategy), to_text(request.target)},
                                    [&] { return state_->make(spec, strategy, request.target); });
  };
  const std::vector<Strategy> strategies =
      choose(spec, request.target, choice, state_->wisdom(), state_->warn_once);
  const ForwardKernel& kernel = first_kernel(strategies, made);
  state_->forward_kernels.insert(request, &kernel);
  return kernel;
}

const BackwardKernel& Engine::backward(const BackwardSpec& raw, const BackwardChoice& choice) {
  const Target target = current_target();
  const BackwardSpec spec = validated(raw);
  const auto made = [&](const BackwardStrategy& strategy) -> const BackwardKernel& {
    return state_->made_backward.get({to_text(spec), to_text(strategy), to_text(target)},
                                     [&] { return state_->make(spec, strategy, target); });
  };
  return first_kernel(choose(spec, target, choice, state_->wisdom(), state_->warn_once), made);
}

const TransposeKernel& Engine::transpose(const TransposeSpec& raw) {
  const TransposeSpec spec = validated(raw);
  const Target target = current_target();
  return state_->made_transposes.get({to_text(spec), to_text(target)},
                                     [&] { return state_->make(spec, target); });
}

const TablesKernel& Engine::tables(const TablesSpec& raw, const TablesChoice& choice) {
  const Target target = current_target();
  const TablesSpec spec = validated(raw);
  const int bits = batch_bits(choice.expected_batch);
  const auto kernel = [&](const std::vector<Strategy>& strategies) -> const TablesKernel& {
    std::vector<std::string> key = {to_text(spec), to_text(target), std::to_string(bits)};
    for (const Strategy& strategy : strategies) key.push_back(to_text(strategy));
    for (const TablesSpec::Expected& expected : spec.expected)
      key.push_back(fmt::format("{} {}", expected.num_rows, expected.bag_size));
    return state_->made_tables.get(
        key, [&] { return state_->make(spec, strategies, smallest_batch(bits), target); });
  };
  return first_kernel(choose(spec, target, choice, state_->wisdom(), state_->warn_once), kernel);
}

const Quantiser& Engine::quantiser(const ForwardSpec& raw) {
  const ForwardSpec spec = quantiser_spec(raw);
  const Target target = current_target();
  return state_->made_quantisers.get({to_text(spec), to_text(target)}, [&] {
    return Quantiser(state_->load(quantiser_specialisation(spec, target), 0), spec);
  });
}

const Kernel& Engine::kernel(const KernelTemplate& kernel_template) {
  const Specialisation specialisation = specialise(kernel_template, current_target());
  std::vector<std::string> key = {specialisation.source, specialisation.entry,
                                  to_text(specialisation.target)};
  key.insert(key.end(), specialisation.options.begin(), specialisation.options.end());
  return state_->made_kernels.get(key, [&] { return state_->load(specialisation, 0); });
}

Artifact Engine::artifact(const Specialisation& specialisation) {
  return state_->artifacts.get(specialisation);
}

std::optional<Artifact> Engine::find(const Specialisation& specialisation) {
  return state_->artifacts.find(specialisation);
}

std::optional<cache::NearestRecord::Answer> Engine::nearest(const Specialisation& specialisation) {
  return state_->artifacts.nearest(specialisation);
}

const cache::Cache& Engine::cache() const noexcept {
  return state_->artifacts.cache();
}

void Engine::check() {
  state_->reports.check();
}

}  // namespace jitbag
