// Stands in for what is being written; goes when that is merged.
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/bundle_layer.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "jitbag/cache/error.hpp"
#include "jitbag/cache/remote.hpp"

namespace jitbag::cache {
namespace {
[[noreturn]] void pending() {
  throw Error("Not there yet.");
}
}  // namespace
struct SigningKey::State {};
struct TrustedKey::State {};
struct Bundle::State {};
struct BundleLayer::State {};
struct Remote::State {
  RemoteOptions options;
};
SigningKey SigningKey::read(const std::filesystem::path&) { pending(); }
Signature SigningKey::sign(std::span<const std::byte>) const { pending(); }
TrustedKey TrustedKey::read(const std::filesystem::path&) { pending(); }
bool TrustedKey::has_signed(std::span<const std::byte>, const Signature&) const { pending(); }
Bundle Bundle::open(const std::filesystem::path&, const std::optional<TrustedKey>&) { pending(); }
const std::filesystem::path& Bundle::path() const noexcept { std::abort(); }
bool Bundle::is_signed() const noexcept { return false; }
std::size_t Bundle::size() const noexcept { return 0; }
std::vector<Bundle::Entry> Bundle::entries() const { pending(); }
std::vector<Producer> Bundle::producers() const { pending(); }
std::optional<Record> Bundle::find(const Digest&) const { pending(); }
BundleSummary write_bundle(const std::filesystem::path&, const BundleContents&,
                           const std::optional<SigningKey>&) { pending(); }
BundleLayer::BundleLayer(std::filesystem::path path, std::optional<TrustedKey>, Warn)
    : path_(std::move(path)) {}
std::optional<Record> BundleLayer::find(const Digest&) const { return {}; }
std::vector<Digest> BundleLayer::keys() const { return {}; }
std::vector<Producer> BundleLayer::producers() const { return {}; }
Remote::Remote(RemoteOptions options, Warn) : state_(new State{std::move(options)}) {}
std::string Remote::where() const { return state_->options.url; }
bool Remote::writes() const noexcept { return false; }
std::optional<Record> Remote::find(const Digest&) const { return {}; }
bool Remote::store(const Record&) const { return false; }
std::optional<Producer> Remote::latest_producer() const { return {}; }
void Remote::remember(const Producer&) const {}
}  // namespace jitbag::cache
