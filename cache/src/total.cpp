#include "total.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <utility>

#include "byte_lock.hpp"
#include "bytes.hpp"

namespace jitbag::cache {
namespace {

constexpr std::size_t total_size = 16;
constexpr std::uint64_t more_than_any_limit = std::uint64_t{1} << 63;
constexpr std::chrono::milliseconds patience{100};  // the lock is held for some microseconds

/// The file, nobody else reading or writing it meanwhile, as far as locks work.
class TotalFile {
 public:
  explicit TotalFile(const Folder& root) : lock_(root, total_byte, patience), file_(open(root)) {
    // Whoever was stopped while he held the lock may write yet: into a file that has no name.
    if (lock_.outcome() == LockOutcome::in_vain) replace(root);
    if (!file_ && (errno == EISDIR || errno == ELOOP)) replace(root);
    if (!file_) fail(root.path() / total_name, "cannot be opened");
  }

  [[nodiscard]] std::optional<std::uint64_t> read() const {
    const auto bytes = read_file(file_, total_size + 1);
    if (!bytes || bytes->size() != total_size) return {};
    ByteReader reader(*bytes);
    const auto total = reader.take_number();
    const auto complement = reader.take_number();
    return total && complement && *total == ~*complement ? total : std::nullopt;
  }

  void write(std::uint64_t total) const {
    ByteWriter writer(total_size);
    writer.add_number(total);
    writer.add_number(~total);
    if (!write_file(file_, writer.bytes()) || !cut_to(total_size))
      static_cast<void>(cut_to(0));  // half a total is none
  }

 private:
  static Descriptor open(const Folder& root) {
    return open_at(root.descriptor(), total_name, O_RDWR | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR);
  }
  [[nodiscard]] bool cut_to(off_t size) const {
    return uninterrupted([&] { return ::ftruncate(file_.get(), size); }) == 0;
  }
  void replace(const Folder& root) {
    root.remove(total_name);
    file_ = open(root);
  }

  ByteLock lock_;
  Descriptor file_;
};

/// What the action gives, or the other result where the file cannot be had.
template <class Result, class Action>
Result with_file(const Folder& root, Result otherwise, Action&& action) {
  try {
    return action(TotalFile(root));
  } catch (const Trouble&) {
    return otherwise;
  }
}

}  // namespace

std::optional<std::uint64_t> Total::add(std::uint64_t bytes) const {
  using Sum = std::optional<std::uint64_t>;
  return with_file(root_, Sum{}, [&](const TotalFile& file) -> Sum {
    const auto total = file.read();
    if (!total) return {};
    file.write(*total + bytes);
    return *total + bytes;
  });
}

std::optional<std::uint64_t> Total::known() const {
  using Sum = std::optional<std::uint64_t>;
  return with_file(root_, Sum{}, [](const TotalFile& file) -> Sum {
    const auto total = file.read();
    return total < more_than_any_limit ? total : std::nullopt;
  });
}

std::uint64_t Total::before_count() const {
  return with_file(root_, more_than_any_limit, [&](const TotalFile& file) {
    if (const auto total = file.read()) return *total;
    file.write(more_than_any_limit);
    return more_than_any_limit;
  });
}

void Total::set_counted(std::uint64_t counted, std::uint64_t before) const {
  with_file(root_, false, [&](const TotalFile& file) {
    const auto now = file.read();
    // Less than before: someone else has counted meanwhile, and removed what is removed here too.
    if (!now || *now < before) return false;
    file.write(counted + (*now - before));
    return true;
  });
}

}  // namespace jitbag::cache
