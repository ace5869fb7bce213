// Whatever the file holds, a bundle gives records that have the key that was asked for, or Errors.
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bundle_format.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/error.hpp"

namespace {

using namespace jitbag::cache;
namespace format = jitbag::cache::bundle_format;

template <class Action>
void tolerate(Action&& action) {
  try {
    action();
  } catch (const Error& refused) {
    if (std::string_view(refused.what()).empty()) std::abort();
  }
}

void look_for(const Bundle& bundle, const Digest& key) {
  tolerate([&] {
    const auto record = bundle.find(key);
    if (record && record->key() != key) std::abort();
  });
}

/// The path of a file without a place, with these bytes.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<const std::byte> bytes)
      : descriptor_(::memfd_create("bundle", MFD_CLOEXEC)) {
    if (descriptor_ < 0 ||
        ::write(descriptor_, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()) ||
        ::fchmod(descriptor_, 0600) != 0)
      std::abort();
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;
  ~MemoryFile() { ::close(descriptor_); }

  [[nodiscard]] std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor_); }

 private:
  int descriptor_;
};

void check(std::span<const std::byte> bytes) {
  const MemoryFile file(bytes);
  tolerate([&] {
    const Bundle bundle = Bundle::open(file.path());
    tolerate([&] { static_cast<void>(bundle.producers()); });
    tolerate([&] {
      for (const Bundle::Entry& entry : bundle.entries()) look_for(bundle, entry.key);
    });
    look_for(bundle, Digest{});
  });
}

void put_digest(std::span<std::byte> to, std::span<const std::byte> of) {
  std::ranges::copy(sha256(of).bytes, to.begin());
}

/// No fuzzer guesses a SHA-256. With those of the footer and of each record that lies in the file
/// set right, what is behind them is reached: the producers, the index, zstd, the records.
std::vector<std::byte> with_its_checksums(std::span<const std::byte> bytes) {
  constexpr std::size_t digest_in_entry = 64;
  constexpr std::size_t producers_digest_in_footer = 24;
  constexpr std::size_t index_digest_in_footer = 56;
  std::vector<std::byte> sealed(bytes.begin(), bytes.end());
  if (sealed.size() < format::footer_size) return sealed;
  const std::span<std::byte> all(sealed);
  const auto footer = format::decode_footer(all.last(format::footer_size), all.size());
  if (!footer) return sealed;
  const auto index = all.subspan(footer->index_offset(), footer->index_bytes());
  for (std::size_t at = 0; at < index.size(); at += format::entry_size) {
    const auto bytes_of_entry = index.subspan(at).first<format::entry_size>();
    const format::IndexEntry entry = format::entry_from(bytes_of_entry);
    if (entry.offset <= all.size() && entry.stored_bytes <= all.size() - entry.offset)
      put_digest(bytes_of_entry.subspan(digest_in_entry),
                 all.subspan(entry.offset, entry.stored_bytes));
  }
  const auto end = all.last(format::footer_size);
  put_digest(end.subspan(producers_digest_in_footer),
             all.subspan(footer->producers_offset, footer->producers_bytes));
  put_digest(end.subspan(index_digest_in_footer), index);
  return sealed;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  check(bytes);
  check(with_its_checksums(bytes));
  return 0;
}
