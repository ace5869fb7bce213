#include <fcntl.h>
#include <spdlog/fmt/fmt.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "bundle_format.hpp"
#include "compression.hpp"
#include "file.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/error.hpp"
#include "limits.hpp"
#include "producer_rules.hpp"
#include "unique_name.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using bundle_format::Codec;
using bundle_format::IndexEntry;
using Bytes = std::vector<std::byte>;

constexpr mode_t bundle_mode = 0644;

[[noreturn]] void refuse(const fs::path& path, std::string_view clause) {
  throw Error(fmt::format("The bundle {} cannot be written: {}.", path.string(), clause));
}

std::string temporary_name(const fs::path& path) {
  if (auto name = unique_name(new_prefix)) return std::move(*name);
  refuse(path, fmt::format("the kernel gave no random number ({})", system_reason()));
}

/// A file beside the one that is to be. Removed with its owner unless it was put in place.
class NewBundle {
 public:
  explicit NewBundle(fs::path path)
      : path_(std::move(path)),
        folder_(path_.has_parent_path() ? path_.parent_path() : fs::path(".")),
        temporary_(folder_ / temporary_name(path_)),
        file_(open_at(AT_FDCWD, temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW,
                      S_IRUSR | S_IWUSR)) {
    if (!file_)
      refuse(path_, fmt::format("{} takes no new file ({})", folder_.string(), system_reason()));
  }
  NewBundle(const NewBundle&) = delete;
  NewBundle& operator=(const NewBundle&) = delete;
  ~NewBundle() {
    if (!in_place_) ::unlinkat(AT_FDCWD, temporary_.c_str(), 0);
  }

  /// Its size.
  [[nodiscard]] std::uint64_t written() const { return written_; }

  void write(std::span<const std::byte> bytes) {
    if (!write_file(file_, bytes, written_)) refuse(path_, system_reason());
    written_ += bytes.size();
  }

  void put_in_place() {
    if (::fchmod(file_.get(), bundle_mode) != 0 || !sync_file(file_) ||
        ::renameat(AT_FDCWD, temporary_.c_str(), AT_FDCWD, path_.c_str()) != 0)
      refuse(path_, system_reason());
    in_place_ = true;
    // Where this fails a power cut may take the name away, and never a part of the file.
    if (const Descriptor folder = open_at(AT_FDCWD, folder_.c_str(), O_RDONLY | O_DIRECTORY))
      static_cast<void>(sync_file(folder));
  }

 private:
  fs::path path_;
  fs::path folder_;
  fs::path temporary_;
  Descriptor file_;
  std::uint64_t written_ = 0;
  bool in_place_ = false;
};

struct Stored {
  Codec codec;
  Bytes bytes;
};

/// Packed where that saves a tenth, and not so much that a reader would take it for a trap.
Stored stored_form(const Compressor& compressor, Bytes record) {
  Bytes packed = compressor.compress(record);
  if (packed.size() <= record.size() - record.size() / 10 &&
      record.size() <= bundle_format::largest_ratio * packed.size())
    return {Codec::zstd, std::move(packed)};
  return {Codec::plain, std::move(record)};
}

std::vector<Digest> sorted_once(std::vector<Digest> keys) {
  std::ranges::sort(keys, {}, &Digest::bytes);
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

/// In the order of their ids, each once.
std::vector<Producer> sorted_once(std::vector<Producer> producers, const fs::path& path) {
  for (Producer& producer : producers) {
    if (!is_valid_producer_id(producer.id))
      refuse(path, fmt::format("the producer \"{}\" has an id that is none: it has 1 to {} of 0-9 "
                               "a-z A-Z . _ - and is not . or ..",
                               producer.id, longest_producer_id));
    producer.description = kept_description(producer.description);
  }
  const auto both = [](const Producer& producer) {
    return std::pair(std::string_view(producer.id), std::string_view(producer.description));
  };
  std::ranges::sort(producers, {}, both);
  const auto same_id = [](const Producer& a, const Producer& b) { return a.id == b.id; };
  producers.erase(std::unique(producers.begin(), producers.end(), same_id), producers.end());
  return producers;
}

Bytes checked_record(const Record& record, const Digest& key, const fs::path& path) {
  if (record.key() != key)
    refuse(path, fmt::format("the record that was given for {} is that of {}", key.hex(),
                             record.key().hex()));
  Bytes bytes = encode(record);
  if (bytes.size() > largest_record)
    refuse(path, fmt::format("the record {} has {} bytes, more than the {} allowed", key.hex(),
                             bytes.size(), largest_record));
  return bytes;
}

/// The records are written; what the index says of them is given back.
std::vector<IndexEntry> write_records(NewBundle& file, const BundleContents& contents,
                                      const fs::path& path) {
  const Compressor compressor;
  std::vector<IndexEntry> entries;
  for (const Digest& key : sorted_once(contents.keys)) {
    const std::optional<Record> record = contents.read(key);
    if (!record) continue;
    Bytes bytes = checked_record(*record, key, path);
    IndexEntry entry;
    entry.key = key;
    entry.offset = file.written();
    entry.record_bytes = bytes.size();
    const Stored stored = stored_form(compressor, std::move(bytes));
    entry.stored_bytes = stored.bytes.size();
    entry.codec = stored.codec;
    entry.stored_digest = sha256(stored.bytes);
    file.write(stored.bytes);
    entries.push_back(entry);
  }
  return entries;
}

Bytes index_of(std::span<const IndexEntry> entries) {
  ByteWriter writer(entries.size() * bundle_format::entry_size);
  for (const IndexEntry& entry : entries) bundle_format::add_entry(writer, entry);
  return std::move(writer).take();
}

void require_room(const Bytes& part, const char* name, const fs::path& path) {
  if (part.size() > bundle_format::largest_part)
    refuse(path, fmt::format("its {} would have {} bytes, more than the {} allowed; write several "
                             "bundles",
                             name, part.size(), bundle_format::largest_part));
}

}  // namespace

BundleSummary write_bundle(const fs::path& path, const BundleContents& contents,
                           const std::optional<SigningKey>& signing) {
  const Bytes producers = bundle_format::encode_producers(sorted_once(contents.producers, path));
  require_room(producers, "list of producers", path);

  NewBundle file(path);
  file.write(bundle_format::encode_header());
  const std::vector<IndexEntry> entries = write_records(file, contents, path);
  const Bytes index = index_of(entries);
  require_room(index, "index", path);

  bundle_format::Footer footer{file.written(),    producers.size(), entries.size(),
                               sha256(producers), sha256(index),    {}};
  if (signing) footer.signature = signing->sign(bundle_format::signed_part(footer));
  file.write(producers);
  file.write(index);
  file.write(bundle_format::encode_footer(footer));
  file.put_in_place();

  BundleSummary summary{entries.size(), 0, file.written()};
  for (const IndexEntry& entry : entries) summary.record_bytes += entry.record_bytes;
  return summary;
}

}  // namespace jitbag::cache
