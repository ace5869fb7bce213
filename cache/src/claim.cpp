#include <utility>

#include "byte_lock.hpp"
#include "jitbag/cache/disk_cache.hpp"

namespace jitbag::cache {

Claim::Claim(Claim&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Claim& Claim::operator=(Claim&& other) noexcept {
  Claim taken(std::move(other));
  std::swap(descriptor_, taken.descriptor_);
  return *this;
}

Claim::~Claim() {
  ByteLock::close(descriptor_);
}

}  // namespace jitbag::cache
