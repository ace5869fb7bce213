#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jitbag/cache/cache.hpp"
#include "jitbag/cache/notes.hpp"

/// Wisdom: the strategies that were measured best, by device model, spec and class of batch. An
/// Engine uses it wherever the caller gives no strategy, in place of the built-in rule.
///
///   Wisdom found("NVIDIA H200");  // the name as the driver says it
///   found.add({.spec = to_text(validated(spec)), .smallest_batch = batch_class(8192),
///              .strategies = {to_text(fastest)}, .time = {2.68, 2.70}, .rule_time = {3.01, 3.12},
///              .date = "2026-12-03T07:30:00Z", ...});
///   WisdomFolder(*wisdom_directory(options)).merge(found);
namespace jitbag {

/// What a strategy takes on the device, in microseconds.
struct MeasuredTime {
  double median_us = 0;
  double p95_us = 0;
  bool operator==(const MeasuredTime&) const = default;
};

/// Whether what a launch reads was in the L2 cache before it.
enum class L2Cache : std::uint8_t { cold, warm };

/// The version of the strategies of this jitbag. Findings of another are ignored.
[[nodiscard]] int strategy_space() noexcept;

/// Of an expected batch only the power of two counts: the smallest batch of its class; 0 where none
/// is expected, which is a class of its own.
[[nodiscard]] std::int64_t batch_class(std::optional<std::int64_t> expected_batch);

/// What was found for one spec and class of batch, and how it was measured.
struct Finding {
  std::string spec = {};  ///< to_text of a validated ForwardSpec, BackwardSpec or TablesSpec
  std::int64_t smallest_batch = 0;           ///< batch_class()
  std::int64_t space = strategy_space();     ///< the strategies' version
  std::vector<std::string> strategies = {};  ///< to_text; one, or one for each table of a set
  MeasuredTime time = {};                    ///< of the strategies
  MeasuredTime rule_time = {};               ///< of those of the built-in rule, in the same run
  std::string date = {};                     ///< UTC, "2026-12-03T07:30:00Z"
  L2Cache l2 = L2Cache::cold;
  std::string ids = {};     ///< how they were made, such as "uniform in [1, 1000000], padding 0.25"
  std::string driver = {};  ///< its version
  std::string nvrtc = {};   ///< its version
  std::string jitbag = {};  ///< its version
  std::string commit = {};  ///< of jitbag; empty where it is not known

  bool operator==(const Finding&) const = default;
};

/// Why this jitbag ignores it, as a sentence, as far as that follows from the finding alone. Empty
/// where it is used, if it is valid for its spec and device.
[[nodiscard]] std::string why_ignored(const Finding& finding);

/// The findings for one device model.
class Wisdom {
 public:
  explicit Wisdom(std::string device) : device_(std::move(device)) {}

  [[nodiscard]] const std::string& device() const noexcept { return device_; }
  /// By spec, class of batch and strategy space, each once.
  [[nodiscard]] const std::vector<Finding>& findings() const noexcept { return findings_; }

  /// Of two for the same spec, class of batch and strategy space the one of the later date stays:
  /// it knows the newer driver, compiler and kernels. Of the same date the one with the lower
  /// median; then that whose other fields are the greater. So findings may be merged in any order,
  /// any number of times. True when this one is new and stays.
  bool add(const Finding& finding);
  /// Adds all of another's. How many of them are new and stay.
  std::size_t merge(const Wisdom& other);

  /// The one for this spec and class of batch, of this jitbag's strategy space. Null without one.
  [[nodiscard]] const Finding* find(std::string_view spec,
                                    std::optional<std::int64_t> expected_batch) const;

  bool operator==(const Wisdom&) const = default;

 private:
  std::string device_;
  std::vector<Finding> findings_;  // sorted
};

/// Adds the findings to those of the same device in a list by device, and says how many of them are
/// new and stay.
std::size_t merge(std::vector<Wisdom>& models, const Wisdom& wisdom);

/// The text of a wisdom file: JSON for people, the same bytes for the same wisdom.
[[nodiscard]] std::string to_text(std::span<const Wisdom> models);

/// What a wisdom file says. What is damaged costs itself alone; what is not known is passed over.
struct WisdomText {
  std::vector<Wisdom> models = {};         ///< by device, each once
  std::vector<std::string> problems = {};  ///< sentences about what is ignored
  bool is_of_another_format = false;       ///< a later jitbag's file: do not overwrite it
};
/// `name` is that of the file, for the sentences. Throws nothing for any text.
[[nodiscard]] WisdomText parse_wisdom(std::string_view text, std::string_view name);

/// A folder with a file of wisdom for each device model. Any number of threads and processes.
class WisdomFolder {
 public:
  /// Opens nothing and makes nothing.
  explicit WisdomFolder(std::filesystem::path directory) : notes_(std::move(directory)) {}

  [[nodiscard]] const std::filesystem::path& directory() const noexcept {
    return notes_.directory();
  }

  /// The wisdom of all models, with what is ignored and why. Does not throw for what it finds.
  [[nodiscard]] WisdomText read() const;

  /// The wisdom of one model, none where there is no file; `warn` is told what is ignored and why.
  [[nodiscard]] Wisdom read(const std::string& device, const cache::Warn& warn) const;

  /// Adds the findings to the model's file, and says how many are new and stay. A damaged file is
  /// replaced. Throws Error(io_failed).
  std::size_t merge(const Wisdom& wisdom) const;

 private:
  [[nodiscard]] WisdomText read_file(const std::string& name) const;

  cache::Notes notes_;
};

/// `wisdom` in the cache folder. Nothing without one.
[[nodiscard]] std::optional<std::filesystem::path> wisdom_directory(
    const cache::CacheOptions& options);

}  // namespace jitbag
