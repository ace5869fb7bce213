#include "listing.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "file.hpp"

namespace jitbag::cache {
namespace {

struct Closed {
  void operator()(DIR* stream) const { ::closedir(stream); }
};
using Stream = std::unique_ptr<DIR, Closed>;

/// A stream of its own place in the folder, whoever else reads the same descriptor.
Stream stream_of(int folder) {
  Descriptor again = open_at(folder, ".", O_RDONLY | O_DIRECTORY);
  if (!again) return {};
  Stream stream(::fdopendir(again.get()));
  if (stream) static_cast<void>(again.release());
  return stream;
}

}  // namespace

std::optional<std::vector<std::string>> names_in(int folder) {
  const Stream stream = stream_of(folder);
  if (!stream) return {};
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* entry = ::readdir(stream.get());
    if (entry == nullptr) break;
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return {};
  return names;
}

bool remove_tree(int folder, const std::string& name) {
  if (::unlinkat(folder, name.c_str(), 0) == 0 || errno == ENOENT) return true;
  if (errno != EISDIR) return false;
  {
    const Descriptor inside = open_at(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    if (!inside) return false;
    const auto names = names_in(inside.get());
    if (!names) return false;
    for (const std::string& below : *names)
      if (!remove_tree(inside.get(), below)) return false;
  }
  return ::unlinkat(folder, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT;
}

}  // namespace jitbag::cache
