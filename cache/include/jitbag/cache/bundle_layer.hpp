#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/layer.hpp"
#include "jitbag/cache/warn.hpp"

namespace jitbag::cache {

/// A bundle as a layer, opened at the first look. One that cannot be used, or is refused, is a
/// layer without records, with one warning.
class BundleLayer final : public Layer {
 public:
  BundleLayer(std::filesystem::path path, std::optional<TrustedKey> trusted, Warn warn);
  [[nodiscard]] Place place() const override { return Place::bundle; }
  [[nodiscard]] std::string where() const override { return path_.string(); }
  [[nodiscard]] std::optional<Record> find(const Digest& key) const override;
  [[nodiscard]] std::vector<Digest> keys() const override;
  [[nodiscard]] std::vector<Producer> producers() const override;

 private:
  struct State;
  std::filesystem::path path_;
  std::shared_ptr<State> state_;
};

}  // namespace jitbag::cache
