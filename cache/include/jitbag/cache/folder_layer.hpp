#pragma once

#include <filesystem>
#include <memory>

#include "jitbag/cache/layer.hpp"
#include "jitbag/cache/warn.hpp"

namespace jitbag::cache {

/// A cache folder that is only read: in an image, on a shared mount. Belongs to this user or to
/// root, and nobody else can write to it; otherwise it is refused with a warning. Nothing in it
/// changes, not even the times of use.
class FolderLayer final : public Layer {
 public:
  FolderLayer(std::filesystem::path directory, Warn warn);
  [[nodiscard]] Place place() const override { return Place::folder; }
  [[nodiscard]] std::string where() const override { return directory_.string(); }
  [[nodiscard]] std::optional<Record> find(const Digest& key) const override;
  [[nodiscard]] std::vector<Digest> keys() const override;
  [[nodiscard]] std::vector<Producer> producers() const override;

 private:
  struct State;
  std::filesystem::path directory_;
  std::shared_ptr<State> state_;
};

}  // namespace jitbag::cache
