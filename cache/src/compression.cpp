#include "compression.hpp"

#include <spdlog/fmt/fmt.h>
#include <zstd.h>

#include "jitbag/cache/error.hpp"

namespace jitbag::cache {
namespace {

constexpr int level = 19;

}  // namespace

struct Compressor::Context {
  struct Free {
    void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
  };
  std::unique_ptr<ZSTD_CCtx, Free> zstd{ZSTD_createCCtx()};
};

Compressor::Compressor() : context_(std::make_shared<Context>()) {
  if (!context_->zstd) throw std::bad_alloc();
}

std::vector<std::byte> Compressor::compress(std::span<const std::byte> bytes) const {
  std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
  const std::size_t size = ZSTD_compressCCtx(context_->zstd.get(), packed.data(), packed.size(),
                                             bytes.data(), bytes.size(), level);
  if (ZSTD_isError(size) != 0)
    throw Error(
        fmt::format("zstd cannot pack {} bytes: {}.", bytes.size(), ZSTD_getErrorName(size)));
  packed.resize(size);
  return packed;
}

std::optional<std::vector<std::byte>> decompress(std::span<const std::byte> packed,
                                                 std::size_t size) {
  std::vector<std::byte> bytes(size);
  const std::size_t unpacked =
      ZSTD_decompress(bytes.data(), bytes.size(), packed.data(), packed.size());
  if (ZSTD_isError(unpacked) != 0 || unpacked != size) return {};
  return bytes;
}

}  // namespace jitbag::cache
