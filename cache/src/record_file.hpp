#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "folder.hpp"
#include "jitbag/cache/key.hpp"
#include "jitbag/cache/record.hpp"

namespace jitbag::cache {

inline constexpr const char* records_name = "records";

/// Where a record lies below `records`.
[[nodiscard]] std::string shard_name(const Digest& key);
[[nodiscard]] std::string record_name(const Digest& key);
[[nodiscard]] std::filesystem::path record_path(const std::filesystem::path& root,
                                                const Digest& key);

/// What one look at a file gave. No problem and no bytes: there is no file.
struct FileLook {
  std::optional<std::vector<std::byte>> bytes;
  std::string problem;  ///< a clause about the file
  bool foreign = false;
};

/// Whether a look is noted as a use of the file: its time of change becomes now, if that was over a
/// minute ago.
enum class Use { noted, unnoted };

[[nodiscard]] FileLook look_at(const Folder& folder, const std::string& name, std::size_t limit,
                               Use use);

/// What one look at a record gave. No problem and no record: there is none.
struct RecordLook {
  std::optional<Record> record;
  std::size_t bytes = 0;
  std::string problem;  ///< a sentence
  bool foreign = false;
};

[[nodiscard]] RecordLook look_at_record(const Folder& shard, const Digest& key, Use use);

/// The folder that holds the record of a key, where there is one.
[[nodiscard]] std::optional<Folder> open_shard(const Folder& root, const Digest& key);

}  // namespace jitbag::cache
