#include "jitbag/cache/bundle_layer.hpp"

#include <mutex>
#include <utility>

#include "warn_once.hpp"

namespace jitbag::cache {

/// The bundle, once someone has looked for it.
struct BundleLayer::State {
  State(std::optional<TrustedKey> key, Warn warn)
      : trusted(std::move(key)), warnings(std::move(warn)) {}

  const std::optional<TrustedKey> trusted;
  WarnOnce warnings;
  std::once_flag looked;
  std::optional<Bundle> bundle;

  /// What the action makes of the bundle. Where that fails, one warning and the other result.
  template <class Result, class Action>
  Result with_bundle(const std::filesystem::path& path, Result otherwise,
                     Action&& action) noexcept {
    return warnings.attempt(otherwise, [&] {
      std::call_once(looked, [&] { open(path); });
      return bundle ? action(*bundle) : otherwise;
    });
  }

 private:
  /// Opened once and for all: one that cannot be used is not tried again at every look.
  void open(const std::filesystem::path& path) noexcept {
    bundle = warnings.attempt(std::optional<Bundle>{},
                              [&] { return std::optional(Bundle::open(path, trusted)); });
  }
};

BundleLayer::BundleLayer(std::filesystem::path path, std::optional<TrustedKey> trusted, Warn warn)
    : path_(std::move(path)),
      state_(std::make_shared<State>(std::move(trusted), std::move(warn))) {}

std::optional<Record> BundleLayer::find(const Digest& key) const {
  return state_->with_bundle(path_, std::optional<Record>{},
                             [&](const Bundle& bundle) { return bundle.find(key); });
}

std::vector<Digest> BundleLayer::keys() const {
  return state_->with_bundle(path_, std::vector<Digest>{}, [](const Bundle& bundle) {
    std::vector<Digest> keys;
    keys.reserve(bundle.size());
    for (const Bundle::Entry& entry : bundle.entries()) keys.push_back(entry.key);
    return keys;
  });
}

std::vector<Producer> BundleLayer::producers() const {
  return state_->with_bundle(path_, std::vector<Producer>{},
                             [](const Bundle& bundle) { return bundle.producers(); });
}

}  // namespace jitbag::cache
