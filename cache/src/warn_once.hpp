#pragma once

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
  explicit WarnOnce(Warn warn) : warn_(std::move(warn)) {}

  void say(const std::string& kind, std::string_view sentence) {
    const std::lock_guard lock(mutex_);
    if (said_.insert(kind).second && warn_) warn_(sentence);
  }
  /// That kind of thing is over: the next one is said again.
  void forget(const std::string& kind) {
    const std::lock_guard lock(mutex_);
    said_.erase(kind);
  }

 private:
  Warn warn_;
  std::recursive_mutex mutex_;  // the callback may use the cache
  std::set<std::string> said_;
};

}  // namespace jitbag::cache
