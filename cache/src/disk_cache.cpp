#include "jitbag/cache/disk_cache.hpp"

#include <fcntl.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>

#include "byte_lock.hpp"
#include "file.hpp"
#include "folder.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t record_limit = std::size_t{256} << 20;
constexpr std::size_t longest_id = 200;
constexpr std::size_t longest_description = 3 << 10;

constexpr const char* records_name = "records";
constexpr const char* producers_name = "producers";
constexpr const char* lock_name = "lock";

std::optional<fs::path> absolute_from(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value != '/') return {};
  return value;
}

fs::path made_absolute(fs::path path) {
  std::error_code error;
  fs::path result = fs::absolute(path, error);
  return error ? std::move(path) : std::move(result);
}

std::string record_name(const Digest& key) {
  return key.hex() + ".record";
}

std::string unusable_sentence(const fs::path& directory, std::string_view reason) {
  return fmt::format(
      "The cache folder {} is not used: {}; set JITBAG_CACHE_DIR to a folder of your own that can "
      "be written.",
      directory.string(), reason);
}

/// What one look at a file gave. No problem and no bytes: there is no file.
struct Look {
  std::optional<std::vector<std::byte>> bytes;
  std::string problem;  ///< a clause about the file
  bool foreign = false;
};

std::string kind_of(const struct stat& info) {
  if (S_ISDIR(info.st_mode)) return "is a folder";
  if (S_ISFIFO(info.st_mode)) return "is a fifo";
  return "is not a plain file";
}

Look look_at(const fs::path& path, std::size_t limit) {
  const Descriptor file = open_at(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW);
  if (!file) {
    if (errno == ENOENT) return {};
    if (errno == ELOOP) return {{}, "is a symbolic link"};
    return {{}, fmt::format("cannot be opened ({})", system_reason())};
  }
  struct stat info {};
  if (::fstat(file.get(), &info) != 0)
    return {{}, fmt::format("cannot be looked at ({})", system_reason())};
  if (!S_ISREG(info.st_mode)) return {{}, kind_of(info)};
  if (const auto problem = privacy_problem(info)) return {{}, *problem, true};
  if (std::cmp_greater(info.st_size, limit))
    return {{}, fmt::format("has {} bytes, more than the {} allowed", info.st_size, limit)};
  auto bytes = read_file(file, static_cast<std::size_t>(info.st_size));
  if (!bytes) return {{}, fmt::format("cannot be read ({})", system_reason())};
  return {std::move(bytes), {}};
}

struct LookAtRecord {
  std::optional<Record> record;
  std::string problem;  ///< a sentence
  bool foreign = false;
};

LookAtRecord look_at_record(const fs::path& path, const Digest& key) {
  const Look look = look_at(path, record_limit);
  if (!look.problem.empty()) return {{}, fmt::format("It {}.", look.problem), look.foreign};
  if (!look.bytes) return {};
  Decoded decoded = decode(*look.bytes);
  if (!decoded.record) return {{}, std::move(decoded.problem)};
  if (decoded.record->key() != key) return {{}, "It holds the record of another key."};
  return {std::move(decoded.record), {}};
}

bool is_valid_id(std::string_view id) {
  const auto allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-';
  };
  return !id.empty() && id.size() <= longest_id && id != "." && id != ".." &&
         std::ranges::all_of(id, allowed);
}

/// As much of the text as fits, whole UTF-8 characters only.
std::string_view shortened(std::string_view text) {
  if (text.size() <= longest_description) return text;
  std::size_t end = longest_description;
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0u) == 0x80u; };
  while (end > 0 && continues(text[end])) --end;
  return text.substr(0, end);
}

std::uint64_t lock_number(const Digest& key) {
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < 8; ++i)
    number = number << 8 | std::to_integer<std::uint64_t>(key.bytes[i]);
  return number;
}

std::string text_of(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Newest first; by name where the clock cannot tell.
std::vector<fs::path> files_by_age(const fs::path& folder) {
  std::vector<std::tuple<fs::file_time_type, fs::path>> files;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    std::error_code gone;
    const auto time = fs::last_write_time(entry->path(), gone);
    if (!gone && is_valid_id(entry->path().filename().string()))
      files.emplace_back(time, entry->path());
  }
  std::ranges::sort(files, [](const auto& a, const auto& b) {
    return std::get<0>(a) != std::get<0>(b) ? std::get<0>(a) > std::get<0>(b)
                                            : std::get<1>(a) < std::get<1>(b);
  });
  std::vector<fs::path> paths;
  paths.reserve(files.size());
  for (auto& [time, path] : files) paths.push_back(std::move(path));
  return paths;
}

}  // namespace

/// Says each kind of thing once, one thread at a time.
struct DiskCache::Once {
  Warn warn;
  std::recursive_mutex mutex;  // the callback may use the cache
  std::set<std::string> said;

  explicit Once(Warn to) : warn(std::move(to)) {}

  void say(const std::string& kind, std::string_view sentence) {
    const std::lock_guard lock(mutex);
    if (said.insert(kind).second && warn) warn(sentence);
  }

  /// What the action gives; where it fails, a warning and the other result.
  template <class Result, class Action>
  Result attempt(const fs::path& directory, Result otherwise, Action&& action) noexcept {
    try {
      return action();
    } catch (const std::exception& problem) {
      complain(directory, problem.what());
    } catch (...) {
      complain(directory, "something unknown went wrong");
    }
    return otherwise;
  }

 private:
  void complain(const fs::path& directory, const char* reason) noexcept {
    try {
      say("unusable", unusable_sentence(directory, reason));
    } catch (...) {
      // Without the memory for a sentence, or with a callback that throws, there is no one to tell.
    }
  }
};

std::optional<fs::path> default_directory() {
  if (auto own = absolute_from("JITBAG_CACHE_DIR")) return own;
  if (const auto caches = absolute_from("XDG_CACHE_HOME")) return *caches / "jitbag";
  if (const auto home = absolute_from("HOME")) return *home / ".cache" / "jitbag";
  return {};
}

DiskCache::DiskCache(fs::path directory, Warn warn, std::uint64_t max_bytes)
    : directory_(made_absolute(std::move(directory))),
      max_bytes_(max_bytes),
      once_(std::make_shared<Once>(std::move(warn))) {}

fs::path DiskCache::path_of(const Digest& key) const {
  return directory_ / records_name / key.hex().substr(0, 2) / record_name(key);
}

std::optional<Record> DiskCache::find(const Digest& key) const {
  return once_->attempt(directory_, std::optional<Record>{}, [&]() -> std::optional<Record> {
    const fs::path path = path_of(key);
    const fs::path shard = path.parent_path();
    if (!is_private_folder(directory_) || !is_private_folder(shard.parent_path()) ||
        !is_private_folder(shard))
      return {};
    LookAtRecord look = look_at_record(path, key);
    if (!look.problem.empty())
      once_->say(look.foreign ? "foreign record" : "damage " + key.hex(),
                 fmt::format("The record {} is not used and will be replaced: {}", path.string(),
                             look.problem));
    return std::move(look.record);
  });
}

bool DiskCache::store(const Record& record) const {
  return once_->attempt(directory_, false, [&] {
    const Digest key = record.key();
    const fs::path path = path_of(key);
    const std::vector<std::byte> bytes = encode(record);
    if (bytes.size() > record_limit) {
      once_->say("too large",
                 fmt::format("A record of {} bytes is not kept in {}: at most {} are allowed.",
                             bytes.size(), directory_.string(), record_limit));
      return false;
    }
    static_cast<void>(Folder::make(directory_));
    static_cast<void>(Folder::make(directory_ / records_name));
    const Folder shard = Folder::make(path.parent_path());
    if (look_at_record(path, key).record) return true;
    shard.remove_leftovers();
    shard.publish(path.filename().string(), bytes);
    return true;
  });
}

void DiskCache::discard(const Digest& key) const {
  once_->attempt(directory_, false, [&] {
    const fs::path path = path_of(key);
    if (!is_private_folder(directory_)) return false;
    if (const auto shard = Folder::open(path.parent_path()))
      shard->remove(path.filename().string());
    return true;
  });
}

Claim DiskCache::claim(const Digest& key, std::chrono::milliseconds patience) const {
  return once_->attempt(directory_, Claim(), [&] {
    const Folder folder = Folder::make(directory_);
    Descriptor file =
        open_at(folder.descriptor(), lock_name, O_RDWR | O_CREAT | O_NOFOLLOW, S_IRUSR | S_IWUSR);
    if (!file) fail(directory_ / lock_name, "cannot be opened");
    const LockOutcome outcome = lock_byte(file, lock_number(key), patience);
    const std::string reason = system_reason();
    if (outcome == LockOutcome::taken) return Claim(file.release());
    if (outcome == LockOutcome::in_vain)
      once_->say("in vain",
                 fmt::format("Another process has held the record {} for over {} ms; it is made "
                             "here too.",
                             path_of(key).string(), patience.count()));
    else
      once_->say("no locks",
                 fmt::format("The file {} cannot be locked ({}), so two processes may make the "
                             "same record; set JITBAG_CACHE_DIR to a folder on a local disk.",
                             (directory_ / lock_name).string(), reason));
    return Claim();
  });
}

void DiskCache::remember(const Producer& producer) const {
  once_->attempt(directory_, false, [&] {
    if (!is_valid_id(producer.id)) {
      once_->say("producer id",
                 fmt::format("The producer \"{}\" is not remembered in {}: an id has 1 to {} of "
                             "0-9 a-z A-Z . _ - and is not . or ..",
                             producer.id, directory_.string(), longest_id));
      return false;
    }
    static_cast<void>(Folder::make(directory_));
    const Folder folder = Folder::make(directory_ / producers_name);
    if (look_at(folder.path() / producer.id, longest_description).bytes) return true;
    folder.remove_leftovers();
    folder.publish(producer.id, std::as_bytes(std::span(shortened(producer.description))));
    return true;
  });
}

std::vector<Producer> DiskCache::producers() const {
  return once_->attempt(directory_, std::vector<Producer>{}, [&] {
    std::vector<Producer> producers;
    const fs::path folder = directory_ / producers_name;
    if (!is_private_folder(directory_) || !is_private_folder(folder)) return producers;
    for (const fs::path& path : files_by_age(folder)) {
      const Look look = look_at(path, longest_description);
      if (look.bytes) producers.push_back({path.filename().string(), text_of(*look.bytes)});
    }
    return producers;
  });
}

DiskCache::Health DiskCache::health() const {
  try {
    static_cast<void>(Folder::make(directory_));
    Folder::make(directory_ / records_name).try_writing();
    return {true, fmt::format("Records are kept in {}.", directory_.string())};
  } catch (const std::exception& problem) {
    return {false, unusable_sentence(directory_, problem.what())};
  }
}

}  // namespace jitbag::cache
