#include "folder.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/random.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <ctime>
#include <system_error>
#include <utility>

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

// '+' stands in no name that the cache gives to anything else.
constexpr std::string_view new_prefix = ".new+";
constexpr std::string_view old_prefix = ".old+";
constexpr std::time_t leftover_age_s = 3600;

std::string unique_name(std::string_view prefix) {
  std::array<std::uint64_t, 2> random{};
  if (::getrandom(random.data(), sizeof random, 0) != sizeof random)
    throw Trouble(fmt::format("the kernel gave no random number ({})", system_reason()));
  return fmt::format("{}{:016x}{:016x}", prefix, random[0], random[1]);
}

void require_private(const fs::path& path, const struct stat& info) {
  if (const auto problem = privacy_problem(info))
    throw Trouble(fmt::format("{} {}", path.string(), *problem));
}

void make_with_parents(const fs::path& path) {
  if (::mkdir(path.c_str(), S_IRWXU) == 0 || errno == EEXIST) return;
  const fs::path parent = path.parent_path();
  if (errno != ENOENT || parent.empty() || parent == path) fail(path, "cannot be made");
  make_with_parents(parent);
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) fail(path, "cannot be made");
}

}  // namespace

bool is_private_folder(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return false;
    fail(path, "cannot be looked at");
  }
  if (!S_ISDIR(info.st_mode)) throw Trouble(fmt::format("{} is not a folder", path.string()));
  require_private(path, info);
  return true;
}

/// A file under a name that nobody can guess; removed with its owner unless it was published.
class Folder::NewFile {
 public:
  explicit NewFile(const Folder& folder)
      : folder_(folder),
        name_(unique_name(new_prefix)),
        file_(open_at(folder.descriptor(), name_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                      S_IRUSR | S_IWUSR)) {
    if (!file_) fail(folder.path(), "takes no new file");
  }
  NewFile(const NewFile&) = delete;
  NewFile& operator=(const NewFile&) = delete;
  ~NewFile() {
    if (!published_) ::unlinkat(folder_.descriptor(), name_.c_str(), 0);
  }

  void write(std::span<const std::byte> bytes) {
    if (!write_file(file_, bytes) || !sync_file(file_))
      fail(folder_.path() / name_, "cannot be written");
  }
  /// False, with errno, when it cannot take that name.
  [[nodiscard]] bool publish(const std::string& name) {
    const int folder = folder_.descriptor();
    published_ = ::renameat(folder, name_.c_str(), folder, name.c_str()) == 0;
    return published_;
  }

 private:
  const Folder& folder_;
  std::string name_;
  Descriptor file_;
  bool published_ = false;
};

std::optional<Folder> Folder::open(const fs::path& path) {
  Descriptor descriptor = open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
  if (!descriptor) {
    if (errno == ENOENT) return {};
    if (errno == ENOTDIR) throw Trouble(fmt::format("{} is not a folder", path.string()));
    fail(path, "cannot be opened");
  }
  struct stat info {};
  if (::fstat(descriptor.get(), &info) != 0) fail(path, "cannot be looked at");
  require_private(path, info);
  return Folder(path, std::move(descriptor));
}

Folder Folder::make(const fs::path& path) {
  if (auto folder = open(path)) return std::move(*folder);
  make_with_parents(path);
  auto folder = open(path);
  if (!folder) fail(path, "cannot be made");
  return std::move(*folder);
}

void Folder::publish(const std::string& name, std::span<const std::byte> bytes) const {
  NewFile file(*this);
  file.write(bytes);
  if (!file.publish(name)) {
    if (errno != EISDIR) fail(path_ / name, "cannot be put in place");
    move_aside(name);
    if (!file.publish(name)) fail(path_ / name, "cannot be put in place");
  }
  // Where this fails a power cut may take the name away, and never a part of the file.
  static_cast<void>(sync_file(descriptor_));
}

void Folder::remove(const std::string& name) const {
  if (::unlinkat(descriptor(), name.c_str(), 0) == 0 || errno == ENOENT) return;
  if (errno != EISDIR) fail(path_ / name, "cannot be removed");
  move_aside(name);
}

/// The name is free at once, however long it takes to remove what had it.
void Folder::move_aside(const std::string& name) const {
  const std::string aside = unique_name(old_prefix);
  if (::renameat(descriptor(), name.c_str(), descriptor(), aside.c_str()) != 0) {
    if (errno == ENOENT) return;
    fail(path_ / name, "cannot be moved aside");
  }
  std::error_code left_for_later;
  fs::remove_all(path_ / aside, left_for_later);
}

void Folder::remove_leftovers() const {
  const std::time_t now = std::time(nullptr);
  std::error_code error;
  for (fs::directory_iterator entry(path_, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (!name.starts_with(new_prefix) && !name.starts_with(old_prefix)) continue;
    struct stat info {};
    if (::fstatat(descriptor(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) continue;
    std::error_code left_for_later;
    if (now - info.st_mtime > leftover_age_s) fs::remove_all(entry->path(), left_for_later);
  }
}

void Folder::try_writing() const {
  constexpr std::byte any{};
  NewFile(*this).write({&any, 1});
}

}  // namespace jitbag::cache
