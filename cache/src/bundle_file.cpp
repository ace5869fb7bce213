#include "bundle_file.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "jitbag/cache/error.hpp"

namespace jitbag::cache {
namespace {

[[noreturn]] void refuse_file(const std::filesystem::path& path, std::string_view clause) {
  throw Error(fmt::format("The bundle {} is not used: {}.", path.string(), clause));
}

}  // namespace

BundleFile::BundleFile(const std::filesystem::path& path, Writers writers)
    : path_(path), file_(open_at(AT_FDCWD, path.c_str(), O_RDONLY)) {
  if (!file_) refuse_file(path_, fmt::format("it cannot be opened ({})", system_reason()));
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0)
    refuse_file(path_, fmt::format("it cannot be looked at ({})", system_reason()));
  if (!S_ISREG(info.st_mode)) refuse_file(path_, "it is not a plain file");
  if (writers == Writers::this_user_and_root)
    if (const auto problem = privacy_problem(info, Trust::own_and_roots))
      refuse_file(path_, fmt::format("it {}; copy it, or have it signed and name the key to trust",
                                     *problem));
  size_ = static_cast<std::uint64_t>(info.st_size);
}

std::vector<std::byte> BundleFile::read(std::uint64_t offset, std::uint64_t size) const {
  if (size > size_ || offset > size_ - size) refuse("it speaks of bytes behind its end");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t count = ::pread(file_.get(), bytes.data() + done, bytes.size() - done,
                                  static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse(fmt::format("it cannot be read ({})", system_reason()));
    if (count == 0) refuse("it was cut short while it was open");
    done += static_cast<std::size_t>(count);
  }
  return bytes;
}

void BundleFile::refuse(std::string_view clause) const {
  refuse_file(path_, fmt::format("{}; copy or export it again", clause));
}

}  // namespace jitbag::cache
