#include "bundle_file.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

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
  auto bytes = read_file(file_, static_cast<std::size_t>(size), offset);
  if (!bytes) refuse(fmt::format("it cannot be read ({})", system_reason()));
  if (bytes->size() < size) refuse("it was cut short while it was open");
  return std::move(*bytes);
}

void BundleFile::refuse(std::string_view clause) const {
  refuse_file(path_, fmt::format("{}; copy or export it again", clause));
}

}  // namespace jitbag::cache
