#pragma once

/// The text within is compiled by the C++ compiler and, as `name`, by NVRTC, where a function
/// without a qualifier is made the device's by an option: the numbers of the two are the same.
#define JITBAG_HOST_AND_DEVICE(name, ...) \
  __VA_ARGS__ inline constexpr const char* name = #__VA_ARGS__ "\n";

namespace jitbag::tools::bench {

/// A counter-based generator (the finaliser of SplitMix64): every thread can start anywhere.
JITBAG_HOST_AND_DEVICE(
    random_bits_source,
    inline unsigned long long random_bits(unsigned long long stream, unsigned long long position) {
      unsigned long long x = stream + (position + 1) * 0x9E3779B97F4A7C15ull;
      x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
      x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
      return x ^ (x >> 31);
    })

}  // namespace jitbag::tools::bench
