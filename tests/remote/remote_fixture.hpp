#pragma once

#include <algorithm>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/refusal.hpp"
#include "jitbag/cache/remote.hpp"

namespace jitbag::test {

/// What a remote warned of, from any thread.
class Heard {
 public:
  [[nodiscard]] cache::Warn listener() {
    return [this](std::string_view sentence) {
      const std::lock_guard lock(mutex_);
      warnings_.emplace_back(sentence);
    };
  }
  [[nodiscard]] std::size_t count() const { return warnings_.size(); }
  /// The only warning, or what is wrong with there being one.
  [[nodiscard]] std::string only() const {
    return warnings_.size() == 1 ? warnings_.front()
                                 : "there are " + std::to_string(warnings_.size()) + " warnings";
  }
  [[nodiscard]] bool any_says(const std::string& words) const {
    return std::ranges::any_of(warnings_, [&](const std::string& w) { return says(w, words); });
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> warnings_;
};

inline std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace jitbag::test
