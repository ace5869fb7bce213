#include "folder.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstdint>
#include <ctime>
#include <system_error>
#include <utility>

#include "listing.hpp"
#include "unique_name.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view old_prefix = ".old+";
constexpr int most_links = 8;

std::string name_of_ours(std::string_view prefix) {
  if (auto name = unique_name(prefix)) return std::move(*name);
  throw Trouble(fmt::format("the kernel gave no random number ({})", system_reason()));
}

bool may_be_a_link(int reason) {
  return reason == ELOOP || reason == ENOTDIR;
}

/// Where a link leads. Throws Trouble for one that was made by a user other than this one and root,
/// and for what is no link.
fs::path target_of(const fs::path& path) {
  const Descriptor link = open_at(AT_FDCWD, path.c_str(), O_PATH | O_NOFOLLOW);
  struct stat info {};
  if (!link || ::fstat(link.get(), &info) != 0) fail(path, "cannot be looked at");
  if (!S_ISLNK(info.st_mode)) throw Trouble(fmt::format("{} is not a folder", path.string()));
  if (!is_trusted(info.st_uid, Trust::own_and_roots))
    throw Trouble(fmt::format("{} is a symbolic link of user {}", path.string(), info.st_uid));
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlinkat(link.get(), "", target.data(), target.size());
  if (size < 0) fail(path, "cannot be followed");
  return path.parent_path() / std::string_view(target.data(), static_cast<std::size_t>(size));
}

/// Follows each link at the end of the path by hand, so that none is followed unseen.
Descriptor open_folder(const fs::path& path, int links_left = most_links) {
  Descriptor folder = open_at(AT_FDCWD, path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (folder || !may_be_a_link(errno)) return folder;
  if (links_left == 0) fail(path, "cannot be opened");
  return open_folder(target_of(path), links_left - 1);
}

void make_with_parents(const fs::path& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return;
  const fs::path parent = path.parent_path();
  if (errno != ENOENT || parent.empty() || parent == path) fail(path, "cannot be made");
  make_with_parents(parent);
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) fail(path, "cannot be made");
}

}  // namespace

fs::path tidied(fs::path path) {
  std::error_code error;
  if (fs::path absolute = fs::absolute(path, error); !error) path = std::move(absolute);
  return !path.has_filename() && path.has_relative_path() ? path.parent_path() : path;
}

Folder::Folder(fs::path path, Descriptor descriptor, Trust trust)
    : path_(std::move(path)), descriptor_(std::move(descriptor)), trust_(trust) {
  struct stat info {};
  if (::fstat(descriptor_.get(), &info) != 0) fail(path_, "cannot be looked at");
  if (const auto problem = privacy_problem(info, trust_))
    throw Trouble(fmt::format("{} {}", path_.string(), *problem));
}

std::optional<Folder> Folder::open(const fs::path& path, Trust trust) {
  Descriptor descriptor = open_folder(path);
  if (descriptor) return Folder(path, std::move(descriptor), trust);
  if (errno == ENOENT) return {};
  fail(path, "cannot be opened");
}

Folder Folder::make(const fs::path& path) {
  if (auto folder = open(path, Trust::own)) return std::move(*folder);
  make_with_parents(path);
  auto folder = open(path, Trust::own);
  if (!folder) fail(path, "cannot be made");
  return std::move(*folder);
}

std::optional<Folder> Folder::open_inside(const std::string& name) const {
  constexpr int flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW;
  Descriptor inside = open_at(descriptor(), name.c_str(), flags);
  if (inside) return Folder(path_ / name, std::move(inside), trust_);
  if (errno == ENOENT) return {};
  if (may_be_a_link(errno))
    throw Trouble(fmt::format("{} is not a folder", (path_ / name).string()));
  fail(path_ / name, "cannot be opened");
}

Folder Folder::make_inside(const std::string& name) const {
  if (auto folder = open_inside(name)) return std::move(*folder);
  if (::mkdirat(descriptor(), name.c_str(), S_IRWXU) != 0 && errno != EEXIST)
    fail(path_ / name, "cannot be made");
  auto folder = open_inside(name);
  if (!folder) fail(path_ / name, "cannot be made");
  return std::move(*folder);
}

std::vector<std::string> Folder::names() const {
  auto names = names_in(descriptor());
  if (!names) fail(path_, "cannot be listed");
  return std::move(*names);
}

std::optional<struct stat> Folder::information(const std::string& name) const {
  struct stat info {};
  if (::fstatat(descriptor(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0) return info;
  if (errno == ENOENT) return {};
  fail(path_ / name, "cannot be looked at");
}

void Folder::publish(const std::string& name, std::span<const std::byte> bytes) const {
  NewFile(*this, bytes).publish(name);
  sync();
}

void Folder::sync() const {
  static_cast<void>(sync_file(descriptor_));
}

void Folder::remove(const std::string& name) const {
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return;
  if (errno != EISDIR) fail(path_ / name, "cannot be removed");
  move_aside(name);
}

/// The name is free at once, however long it takes to remove what had it.
void Folder::move_aside(const std::string& name) const {
  const std::string aside = name_of_ours(old_prefix);
  if (::renameat(descriptor(), name.c_str(), descriptor(), aside.c_str()) != 0) {
    if (errno == ENOENT) return;
    fail(path_ / name, "cannot be moved aside");
  }
  static_cast<void>(remove_tree(descriptor(), aside));  // what stays is left over
}

std::vector<std::string> Folder::leftovers(std::chrono::seconds age) const {
  std::vector<std::string> found = names();
  const std::time_t now = std::time(nullptr);
  std::erase_if(found, [&](const std::string& name) {
    if (!name.starts_with(new_prefix) && !name.starts_with(old_prefix)) return true;
    const auto info = information(name);
    return !info || now - info->st_mtime <= age.count();
  });
  return found;
}

void Folder::remove_leftovers() const {
  try {
    for (const std::string& name : leftovers(leftover_age))
      static_cast<void>(remove_tree(descriptor(), name));
  } catch (const Trouble&) {
    // They are in nobody's way: the next one tries again.
  }
}

void Folder::try_writing() const {
  constexpr std::byte any{};
  const NewFile file(*this, {&any, 1});
}

Folder::NewFile::NewFile(const Folder& folder, std::span<const std::byte> bytes)
    : folder_(folder),
      name_(name_of_ours(new_prefix)),
      file_(open_at(folder.descriptor(), name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                    S_IRUSR | S_IWUSR)) {
  if (!file_) fail(folder.path(), "takes no new file");
  if (write_file(file_, bytes) && sync_file(file_)) return;
  const int reason = errno;
  ::unlinkat(folder.descriptor(), name_.c_str(), 0);
  errno = reason;
  fail(folder.path() / name_, "cannot be written");
}

Folder::NewFile::~NewFile() {
  if (!published_) ::unlinkat(folder_.descriptor(), name_.c_str(), 0);
}

void Folder::NewFile::publish(const std::string& name) {
  if (rename(name)) return;
  if (errno != EISDIR) fail(folder_.path() / name, "cannot be put in place");
  folder_.move_aside(name);
  if (!rename(name)) fail(folder_.path() / name, "cannot be put in place");
}

/// False, with errno, when it cannot take that name.
bool Folder::NewFile::rename(const std::string& name) {
  const int folder = folder_.descriptor();
  published_ = ::renameat(folder, name_.c_str(), folder, name.c_str()) == 0;
  return published_;
}

}  // namespace jitbag::cache
