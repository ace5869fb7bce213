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

constexpr std::size_t total_size = 32;
constexpr std::uint64_t more_than_any_limit = std::uint64_t{1} << 63;
constexpr std::chrono::milliseconds total_patience{100};  // the lock is held for some microseconds

/// What the file says.
struct Sum {
  std::uint64_t bytes = 0;
  std::uint64_t counts = 0;  ///< that have ended
};

bool is_same(const Descriptor& one, const Descriptor& other) {
  struct stat of_one {};
  struct stat of_other {};
  return one && other && ::fstat(one.get(), &of_one) == 0 && ::fstat(other.get(), &of_other) == 0 &&
         of_one.st_dev == of_other.st_dev && of_one.st_ino == of_other.st_ino;
}

/// The file, nobody else reading or writing it meanwhile, as far as locks work.
class TotalFile {
 public:
  explicit TotalFile(const Folder& root)
      : lock_(root, total_byte, total_patience), file_(open(root)) {
    // Whoever was stopped while he held the lock may write yet: into a file that has no name.
    if (lock_.outcome() == LockOutcome::in_vain) replace(root);
    if (!file_ && (errno == EISDIR || errno == ELOOP)) replace(root);
    if (!file_) fail(root.path() / total_name, "cannot be opened");
  }

  [[nodiscard]] std::optional<Sum> read() const {
    const auto bytes = read_file(file_, total_size + 1);
    if (!bytes || bytes->size() != total_size) return {};
    ByteReader reader(*bytes);
    const Sum sum{*reader.take_number(), *reader.take_number()};
    const Sum complement{*reader.take_number(), *reader.take_number()};
    if (sum.bytes != ~complement.bytes || sum.counts != ~complement.counts) return {};
    return sum;
  }

  /// Whether the folder still has this file: someone who has waited in vain may have removed it.
  [[nodiscard]] bool is_in(const Folder& root) const {
    return is_same(file_, open_at(root.descriptor(), total_name, O_PATH | O_NOFOLLOW));
  }
  [[nodiscard]] bool is_same_as(const Descriptor& other) const { return is_same(file_, other); }

  [[nodiscard]] Descriptor take() && { return std::move(file_); }

  void write(const Sum& sum) const {
    ByteWriter writer(total_size);
    for (const std::uint64_t number : {sum.bytes, sum.counts, ~sum.bytes, ~sum.counts})
      writer.add_number(number);
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

/// Nothing where it cannot be had.
std::optional<TotalFile> open_total(const Folder& root) {
  try {
    return std::optional<TotalFile>(std::in_place, root);
  } catch (const Trouble&) {
    return {};
  }
}

}  // namespace

std::optional<std::uint64_t> Total::add(std::uint64_t bytes,
                                        const std::function<void()>& publish) const {
  const auto file = open_total(root_);
  const auto sum = file ? file->read() : std::nullopt;
  if (sum) file->write({sum->bytes + bytes, sum->counts});
  publish();
  if (!sum || !file->is_in(root_)) return {};
  return sum->bytes + bytes;
}

std::optional<std::uint64_t> Total::known() const {
  const auto file = open_total(root_);
  const auto sum = file ? file->read() : std::nullopt;
  if (!sum || sum->bytes >= more_than_any_limit || !file->is_in(root_)) return {};
  return sum->bytes;
}

Count::Count(const Folder& root) : root_(root), before_(more_than_any_limit) {
  auto file = open_total(root);
  if (!file) return;
  if (const auto sum = file->read()) {
    before_ = sum->bytes;
    counts_ = sum->counts;
  } else {
    file->write({before_, counts_});
  }
  file_ = std::move(*file).take();
}

void Count::end(std::uint64_t counted) const {
  const auto file = open_total(root_);
  const auto now = file ? file->read() : std::nullopt;
  if (!now || now->counts != counts_ || !file->is_same_as(file_)) return;
  file->write({counted + (now->bytes - before_), counts_ + 1});
}

}  // namespace jitbag::cache
