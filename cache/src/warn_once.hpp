#pragma once

#include <exception>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "jitbag/cache/warn.hpp"

namespace jitbag::cache {

/// Says each kind of thing once, one thread at a time.
class WarnOnce {
 public:
  using Sentence = std::function<std::string(std::string_view reason)>;

  /// `unusable` makes a sentence of the reason why something could not be done, where the reason is
  /// not one already.
  WarnOnce(Warn warn, Sentence unusable) : warn_(std::move(warn)), unusable_(std::move(unusable)) {}
  explicit WarnOnce(Warn warn)
      : WarnOnce(std::move(warn), [](std::string_view reason) { return std::string(reason); }) {}

  void say(const std::string& kind, std::string_view sentence) {
    const std::lock_guard lock(mutex_);
    if (said_.insert(kind).second && warn_) warn_(sentence);
  }

  /// That kind of thing is over: the next one is said again.
  void forget(const std::string& kind) {
    const std::lock_guard lock(mutex_);
    said_.erase(kind);
  }

  [[nodiscard]] std::string unusable(std::string_view reason) const { return unusable_(reason); }

  /// What the action gives; where it fails, a warning and the other result.
  template <class Result, class Action>
  Result attempt(Result otherwise, Action&& action) noexcept {
    try {
      return action();
    } catch (const std::exception& problem) {
      complain(problem.what());
    } catch (...) {
      complain("something unknown went wrong");
    }
    return otherwise;
  }

 private:
  void complain(const char* reason) noexcept {
    try {
      say("unusable", unusable_(reason));
    } catch (...) {
      // Without the memory for a sentence, or with a callback that throws, there is no one to tell.
    }
  }

  Warn warn_;
  Sentence unusable_;
  std::recursive_mutex mutex_;  // the callback may use the cache
  std::set<std::string> said_;
};

}  // namespace jitbag::cache
