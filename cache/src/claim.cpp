#include <fcntl.h>
#include <unistd.h>

#include <utility>

#include "jitbag/cache/disk_cache.hpp"

namespace jitbag::cache {

Claim::Claim(Claim&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}

Claim& Claim::operator=(Claim&& other) noexcept {
  Claim taken(std::move(other));
  std::swap(descriptor_, taken.descriptor_);
  return *this;
}

Claim::~Claim() {
  if (descriptor_ < 0) return;
  // A child that was forked meanwhile has the file open too, and would keep the lock after a close.
  struct flock whole_file {};
  whole_file.l_type = F_UNLCK;
  whole_file.l_whence = SEEK_SET;
  ::fcntl(descriptor_, F_OFD_SETLK, &whole_file);
  ::close(descriptor_);
}

}  // namespace jitbag::cache
