#pragma once

#include <functional>
#include <vector>

#include "folder.hpp"
#include "jitbag/cache/disk_cache.hpp"

namespace jitbag::cache {

/// Everything that has the name of a record, in the order of the keys. Opens none of them.
[[nodiscard]] std::vector<Entry> list_records(const Folder& root);

/// Calls with every folder that the cache has made, the root first.
void for_each_folder(const Folder& root, const std::function<void(const Folder&)>& call);

/// When a file was used last.
[[nodiscard]] std::chrono::system_clock::time_point last_used(const struct stat& info);

}  // namespace jitbag::cache
