#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace jitbag::cache {

/// Packs with zstd, at a level that costs milliseconds for a kernel and is paid once for a bundle.
class Compressor {
 public:
  Compressor();
  [[nodiscard]] std::vector<std::byte> compress(std::span<const std::byte> bytes) const;

 private:
  struct Context;
  std::shared_ptr<Context> context_;
};

/// Nothing unless the bytes are whole and unpack to this very size.
[[nodiscard]] std::optional<std::vector<std::byte>> decompress(std::span<const std::byte> packed,
                                                               std::size_t size);

}  // namespace jitbag::cache
