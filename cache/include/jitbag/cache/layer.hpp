#pragma once

#include <optional>
#include <string>
#include <vector>

#include "jitbag/cache/key.hpp"
#include "jitbag/cache/producer.hpp"
#include "jitbag/cache/record.hpp"

namespace jitbag::cache {

/// Where a record was found.
enum class Place { folder, bundle, remote };

/// A place that is only read: a folder, a bundle. Any number of threads may use one. No method
/// throws: what does not work is a miss, with one warning.
class Layer {
 public:
  virtual ~Layer() = default;

  [[nodiscard]] virtual Place place() const = 0;
  /// The path, for people.
  [[nodiscard]] virtual std::string where() const = 0;
  /// The record, if a whole one with this very key is there.
  [[nodiscard]] virtual std::optional<Record> find(const Digest& key) const = 0;
  /// Every key that the layer has, in order. Reads the whole list.
  [[nodiscard]] virtual std::vector<Digest> keys() const = 0;
  [[nodiscard]] virtual std::vector<Producer> producers() const = 0;
};

}  // namespace jitbag::cache
