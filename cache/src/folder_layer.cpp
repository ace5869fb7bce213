#include "jitbag/cache/folder_layer.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>

#include "folder.hpp"
#include "jitbag/cache/disk_cache.hpp"
#include "producer_files.hpp"
#include "record_file.hpp"
#include "record_list.hpp"
#include "warn_once.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

Folder open_root(const fs::path& directory) {
  auto root = Folder::open(directory, Trust::own_and_roots);
  if (!root) throw Trouble("it does not exist");
  return std::move(*root);
}

std::string unusable_layer_sentence(const fs::path& directory, std::string_view reason) {
  return fmt::format(
      "The layer {} is not used: {}; name in JITBAG_CACHE_PATH folders and bundles that this user "
      "can read and that nobody but this user and root can write to.",
      directory.string(), reason);
}

}  // namespace

struct FolderLayer::State {
  WarnOnce warnings;
};

FolderLayer::FolderLayer(fs::path directory, Warn warn)
    : directory_(std::move(directory)),
      state_(new State{{std::move(warn), [path = directory_](std::string_view reason) {
                          return unusable_layer_sentence(path, reason);
                        }}}) {}

std::optional<Record> FolderLayer::find(const Digest& key) const {
  return state_->warnings.attempt(std::optional<Record>{}, [&]() -> std::optional<Record> {
    const auto shard = open_shard(open_root(directory_), key);
    if (!shard) return {};
    RecordLook look = look_at_record(*shard, key, Use::unnoted);
    if (!look.problem.empty())
      state_->warnings.say(look.flaw == Flaw::foreign ? "foreign record" : "damage " + key.hex(),
                           fmt::format("The record {} is not used: {}",
                                       record_path(directory_, key).string(), look.problem));
    return std::move(look.record);
  });
}

std::vector<Digest> FolderLayer::keys() const {
  return state_->warnings.attempt(std::vector<Digest>{}, [&] {
    std::vector<Digest> keys;
    for (const Entry& entry : list_records(open_root(directory_))) keys.push_back(entry.key);
    return keys;
  });
}

std::vector<Producer> FolderLayer::producers() const {
  return state_->warnings.attempt(std::vector<Producer>{},
                                  [&] { return read_producers(open_root(directory_)); });
}

}  // namespace jitbag::cache
