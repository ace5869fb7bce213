// Stands in for what is being written; goes when that is merged.
#include "jitbag/cache/remote.hpp"

namespace jitbag::cache {
struct Remote::State {
  RemoteOptions options;
};
Remote::Remote(RemoteOptions options, Warn) : state_(new State{std::move(options)}) {}
std::string Remote::where() const {
  return state_->options.url;
}
bool Remote::writes() const noexcept {
  return false;
}
std::optional<Record> Remote::find(const Digest&) const {
  return {};
}
bool Remote::store(const Record&) const {
  return false;
}
std::optional<Producer> Remote::latest_producer() const {
  return {};
}
void Remote::remember(const Producer&) const {}
}  // namespace jitbag::cache
