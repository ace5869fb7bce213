#pragma once

#include <stdexcept>

namespace jitbag::cache {

/// Thrown where the caller named a file and expects it to work: a bundle, a key. One sentence for a
/// person: what was wrong, with the value, and what to do.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace jitbag::cache
