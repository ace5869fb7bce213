#include "jitbag/cache/bundle.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <random>
#include <string>
#include <vector>

#include "cache/bundle_file.hpp"
#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "cache/key_pair.hpp"
#include "cache/refusal.hpp"
#include "catch.hpp"
#include "support/seed.hpp"

namespace jitbag::cache {
namespace {

using test::content_of;
using test::contents_of;
using test::dense_sample;
using test::KeyPair;
using test::names_below;
using test::refusal;
using test::sample;
using test::says;
using test::TemporaryFolder;
using test::write_content;
namespace fs = std::filesystem;

const std::vector<std::string> some_names = {"a", "b", "c", "d", "e", "f", "g"};

/// A folder with a bundle of some records in it.
struct Shipped {
  TemporaryFolder folder;
  fs::path path = folder.path() / "kernels.bundle";
  BundleContents contents = contents_of(some_names);
  BundleSummary summary = write_bundle(path, contents);
};

std::string opening_refusal(const fs::path& path, const std::optional<TrustedKey>& trusted = {}) {
  return refusal([&] { static_cast<void>(Bundle::open(path, trusted)); });
}

/// What looking for all keys gives: wrong records, and how many are found.
struct Looked {
  int right = 0;
  int wrong = 0;
};

Looked look_for_all(const fs::path& path, const std::optional<TrustedKey>& trusted = {}) {
  Looked looked;
  static_cast<void>(refusal([&] {
    const Bundle bundle = Bundle::open(path, trusted);
    static_cast<void>(refusal([&] { static_cast<void>(bundle.entries()); }));
    static_cast<void>(refusal([&] { static_cast<void>(bundle.producers()); }));
    for (const std::string& name : some_names) {
      static_cast<void>(refusal([&] {
        const Record wanted = sample(name);
        const auto found = bundle.find(wanted.key());
        if (found) ++(*found == wanted ? looked.right : looked.wrong);
      }));
    }
  }));
  return looked;
}

TEST_CASE("a bundle gives back every record, and nothing for other keys") {
  const Shipped shipped;
  const Bundle bundle = Bundle::open(shipped.path);
  CHECK(bundle.size() == some_names.size());
  CHECK_FALSE(bundle.is_signed());
  CHECK(bundle.path() == shipped.path);
  for (const std::string& name : some_names) CHECK(bundle.find(sample(name).key()) == sample(name));
  for (int i = 0; i < 100; ++i)
    CHECK_FALSE(bundle.find(sample("other " + std::to_string(i)).key()));
  CHECK_FALSE(bundle.find(Digest{}));
  Digest last;
  last.bytes.fill(std::byte{0xff});
  CHECK_FALSE(bundle.find(last));
}

TEST_CASE("a bundle lists its records by key, and its producers by id") {
  const Shipped shipped;
  const Bundle bundle = Bundle::open(shipped.path);
  std::vector<Digest> keys = shipped.contents.keys;
  std::ranges::sort(keys, {}, &Digest::bytes);
  std::vector<Digest> listed;
  std::uint64_t record_bytes = 0;
  for (const Bundle::Entry& entry : bundle.entries()) {
    listed.push_back(entry.key);
    CHECK(entry.stored_bytes <= entry.record_bytes);
    record_bytes += entry.record_bytes;
  }
  CHECK(listed == keys);
  CHECK(record_bytes == shipped.summary.record_bytes);
  CHECK(shipped.summary.records == some_names.size());
  CHECK(shipped.summary.file_bytes == fs::file_size(shipped.path));
  CHECK(bundle.producers() ==
        std::vector<Producer>{{"build-a", "the first"}, {"build-b", "the second"}});
}

TEST_CASE("records are packed where that pays, and not where it does not") {
  const TemporaryFolder folder;
  std::mt19937_64 random(test::seed());
  Record dense{{{"source", "dense"}}, {}};
  for (int i = 0; i < 5000; ++i) dense.payload.push_back(static_cast<std::byte>(random()));
  const Record loose{{{"source", std::string(15'000, 's') + "loose"}}, {}};
  const Record hollow{{{"source", "hollow"}}, std::vector<std::byte>(std::size_t{4} << 20)};
  const std::vector<Record> all = {dense, loose, hollow};
  const fs::path path = folder.path() / "b";
  static_cast<void>(write_bundle(path, contents_of(all)));
  const Bundle bundle = Bundle::open(path);
  for (const Record& record : all) CHECK(bundle.find(record.key()) == record);
  const auto stored = [&](const Record& record) {
    const auto entries = bundle.entries();
    const auto entry = *std::ranges::find(entries, record.key(), &Bundle::Entry::key);
    return std::pair(entry.record_bytes, entry.stored_bytes);
  };
  CHECK(stored(dense).first == stored(dense).second);
  CHECK(stored(loose).second * 10 < stored(loose).first);
  // Packed, it would look like a trap.
  CHECK(stored(hollow).first == stored(hollow).second);
}

TEST_CASE("the same contents give the same bytes, in whatever order and however often they come") {
  const Shipped shipped;
  const std::string expected = content_of(shipped.path);
  BundleContents other = shipped.contents;
  std::ranges::reverse(other.keys);
  other.keys.insert(other.keys.end(), other.keys.begin(), other.keys.end());
  std::ranges::reverse(other.producers);
  other.producers.push_back(other.producers.front());
  const fs::path path = shipped.folder.path() / "another name";
  CHECK(write_bundle(path, other).records == some_names.size());
  CHECK(content_of(path) == expected);

  const KeyPair pair(shipped.folder.path(), 1);
  static_cast<void>(write_bundle(path, other, pair.signing()));
  const std::string is_signed = content_of(path);
  static_cast<void>(write_bundle(path, shipped.contents, pair.signing()));
  CHECK(content_of(path) == is_signed);
  CHECK(is_signed != expected);
}

TEST_CASE("the bundle format is what it was when it got its version") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "b";
  static_cast<void>(write_bundle(path, contents_of(std::vector{dense_sample("a")})));
  // Too short to be packed, so that no version of zstd counts.
  CHECK(sha256(test::bytes_of(content_of(path))).hex() ==
        "bb75a00037d2eeb337d39964147ca643e85de42561efe9355adfba2214aeba6a");
}

TEST_CASE("a bundle without records is a bundle") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "empty";
  BundleContents nothing;
  nothing.read = [](const Digest&) { return std::optional<Record>{}; };
  CHECK(write_bundle(path, nothing).records == 0);
  const Bundle bundle = Bundle::open(path);
  CHECK(bundle.size() == 0);
  CHECK(bundle.entries().empty());
  CHECK(bundle.producers().empty());
  CHECK_FALSE(bundle.find(sample("a").key()));
}

TEST_CASE("a record that is gone meanwhile is left out of the bundle") {
  const TemporaryFolder folder;
  const fs::path path = folder.path() / "b";
  BundleContents contents = contents_of(some_names);
  contents.keys.push_back(sample("gone").key());
  CHECK(write_bundle(path, contents).records == some_names.size());
  CHECK_FALSE(Bundle::open(path).find(sample("gone").key()));
}

TEST_CASE("a bundle can be read by all and leaves nothing beside it") {
  const Shipped shipped;
  CHECK(test::mode_of(shipped.path) == 0644);
  CHECK(names_below(shipped.folder.path()) == std::vector<std::string>{".", "kernels.bundle"});
}

TEST_CASE("a bundle that cannot be written leaves what was there") {
  const Shipped shipped;
  const std::string before = content_of(shipped.path);
  const auto names = names_below(shipped.folder.path());

  BundleContents breaking = contents_of(some_names);
  breaking.read = [](const Digest&) -> std::optional<Record> { throw Error("It broke."); };
  CHECK(refusal([&] { static_cast<void>(write_bundle(shipped.path, breaking)); }) == "It broke.");

  BundleContents wrong = contents_of(some_names);
  wrong.read = [](const Digest&) { return sample("another"); };
  CHECK(says(refusal([&] { static_cast<void>(write_bundle(shipped.path, wrong)); }), "is that of"));

  for (const std::string id : {"", ".", "..", "a/b", "../x", "a b", "\n"}) {
    BundleContents climbing = contents_of(some_names);
    climbing.producers.push_back({id, ""});
    CHECK(says(refusal([&] { static_cast<void>(write_bundle(shipped.path, climbing)); }),
               "has an id that is none"));
  }
  CHECK(says(refusal([&] {
               static_cast<void>(write_bundle(shipped.folder.path(),
                                              contents_of(std::vector{dense_sample("a")})));
             }),
             "cannot be written"));
  CHECK(says(refusal([&] {
               static_cast<void>(write_bundle(shipped.folder.path() / "no" / "b",
                                              contents_of(std::vector{dense_sample("a")})));
             }),
             "takes no new file"));
  CHECK(content_of(shipped.path) == before);
  CHECK(names_below(shipped.folder.path()) == names);
}

TEST_CASE("a bundle that finds no room leaves what was there") {
  const Shipped shipped;
  const std::string before = content_of(shipped.path);
  test::Child limited([&] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit most{1000, 1000};
    if (::setrlimit(RLIMIT_FSIZE, &most) != 0) return 1;
    return says(refusal([&] { static_cast<void>(write_bundle(shipped.path, shipped.contents)); }),
                "File too large")
               ? 0
               : 2;
  });
  CHECK(limited.wait() == 0);
  CHECK(content_of(shipped.path) == before);
  CHECK(names_below(shipped.folder.path()) == std::vector<std::string>{".", "kernels.bundle"});
}

TEST_CASE("a bundle that was replaced while it was open goes on serving") {
  const Shipped shipped;
  const Bundle bundle = Bundle::open(shipped.path);
  static_cast<void>(write_bundle(shipped.path, contents_of(std::vector{dense_sample("another")})));
  for (const std::string& name : some_names) CHECK(bundle.find(sample(name).key()) == sample(name));
  CHECK(Bundle::open(shipped.path).size() == 1);
}

TEST_CASE("a bundle that is cut short while it is open is refused, at every length") {
  const Shipped shipped;
  const KeyPair pair(shipped.folder.path(), 1);
  static_cast<void>(write_bundle(shipped.path, shipped.contents, pair.signing()));
  const std::string whole = content_of(shipped.path);
  for (std::size_t size = 0; size < whole.size(); size += 7) {
    write_content(shipped.path, whole);
    const Bundle plain = Bundle::open(shipped.path);
    const Bundle trusted = Bundle::open(shipped.path, pair.trusted());
    REQUIRE(::truncate(shipped.path.c_str(), static_cast<off_t>(size)) == 0);
    for (const Bundle& bundle : {plain, trusted}) {
      for (const std::string& name : some_names) {
        std::optional<Record> found;
        const std::string problem = refusal([&] { found = bundle.find(sample(name).key()); });
        if (found && *found != sample(name)) FAIL("a wrong record at " << size);
        if (!found && !says(problem, "cut short") && problem != "nothing") FAIL(problem);
      }
    }
    if (size < whole.size() - bundle_format::footer_size)
      CHECK(says(refusal([&] { static_cast<void>(plain.entries()); }), "cut short"));
  }
}

TEST_CASE("a bundle that is overwritten while it is open gives no wrong record") {
  const Shipped shipped;
  const KeyPair pair(shipped.folder.path(), 1);
  static_cast<void>(write_bundle(shipped.path, shipped.contents, pair.signing()));
  const Bundle plain = Bundle::open(shipped.path);
  const Bundle trusted = Bundle::open(shipped.path, pair.trusted());
  const auto overwritten = [&](const std::string& content) {
    const int file = ::open(shipped.path.c_str(), O_WRONLY);
    REQUIRE(::pwrite(file, content.data(), content.size(), 0) ==
            static_cast<ssize_t>(content.size()));
    ::close(file);
  };
  const std::string whole = content_of(shipped.path);
  std::mt19937_64 random(test::seed());
  for (int round = 0; round < 50; ++round) {
    std::string noise = whole;
    for (char& c : noise) c = static_cast<char>(random());
    overwritten(noise);
    for (const Bundle& bundle : {plain, trusted})
      for (const std::string& name : some_names) {
        std::optional<Record> found;
        static_cast<void>(refusal([&] { found = bundle.find(sample(name).key()); }));
        CHECK_FALSE(found);
      }
  }
  overwritten(whole);
  CHECK(plain.find(sample("a").key()) == sample("a"));
}

TEST_CASE("what a signature vouched for stays, whatever is written over the file later") {
  const Shipped shipped;
  const KeyPair pair(shipped.folder.path(), 1);
  static_cast<void>(write_bundle(shipped.path, shipped.contents, pair.signing()));
  const Bundle trusted = Bundle::open(shipped.path, pair.trusted());
  // As its owner could: another payload under the same key, and an index that fits it.
  Record evil = sample("a");
  evil.payload = test::bytes_of("evil bytes of a");
  BundleContents contents = shipped.contents;
  contents.read = [&](const Digest& key) {
    return key == evil.key() ? evil : shipped.contents.read(key);
  };
  const fs::path forged = shipped.folder.path() / "forged";
  static_cast<void>(write_bundle(forged, contents));
  write_content(shipped.path, content_of(forged));  // in place: the same file
  std::optional<Record> found;
  static_cast<void>(refusal([&] { found = trusted.find(evil.key()); }));
  CHECK((!found || *found == sample("a")));
  CHECK(Bundle::open(shipped.path).find(evil.key()) == evil);  // so the forgery was a good one
}

TEST_CASE("a bundle of any shorter or longer length is refused") {
  const Shipped shipped;
  const std::string whole = content_of(shipped.path);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    write_content(shipped.path, whole.substr(0, size));
    if (opening_refusal(shipped.path) == "nothing") FAIL("taken at length " << size);
  }
  write_content(shipped.path, whole + "x");
  CHECK(says(opening_refusal(shipped.path), "its end is not that of a whole bundle"));
}

TEST_CASE("no change of any byte gives a wrong record") {
  const Shipped shipped;
  const std::string whole = content_of(shipped.path);
  std::size_t all_found = 0;
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const unsigned change : {0x01u, 0x80u, 0xffu}) {
      std::string changed = whole;
      changed[at] = static_cast<char>(static_cast<unsigned char>(changed[at]) ^ change);
      write_content(shipped.path, changed);
      const Looked looked = look_for_all(shipped.path);
      if (looked.wrong > 0) FAIL("a wrong record when byte " << at << " changed");
      all_found += looked.right == static_cast<int>(some_names.size()) ? 1 : 0;
    }
  }
  CHECK(all_found < whole.size());  // so the changes were made
}

TEST_CASE("with a trusted key, no change of any byte gives a record that was not signed") {
  const Shipped shipped;
  const KeyPair pair(shipped.folder.path(), 1);
  static_cast<void>(write_bundle(shipped.path, shipped.contents, pair.signing()));
  const TrustedKey trusted = pair.trusted();
  const std::string whole = content_of(shipped.path);
  const auto records_end = whole.find("build-a") - 16;
  for (std::size_t at = 0; at < whole.size(); at += 3) {
    std::string changed = whole;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    write_content(shipped.path, changed);
    const Looked looked = look_for_all(shipped.path, trusted);
    if (looked.wrong > 0) FAIL("a wrong record when byte " << at << " changed");
    // What is not a record is wholly under the signature, and refused when it is opened.
    if ((at < 16 || at >= records_end) && looked.right > 0) FAIL("byte " << at << " is not signed");
  }
}

TEST_CASE("a bundle by another key, or by none, is refused when a key is trusted") {
  const Shipped shipped;
  const KeyPair ours(shipped.folder.path(), 1);
  const KeyPair theirs(shipped.folder.path(), 2);
  CHECK(says(opening_refusal(shipped.path, ours.trusted()), "it has no signature"));
  static_cast<void>(write_bundle(shipped.path, shipped.contents, theirs.signing()));
  CHECK(says(opening_refusal(shipped.path, ours.trusted()), "is not by the trusted key"));
  CHECK(opening_refusal(shipped.path, theirs.trusted()) == "nothing");
  CHECK(Bundle::open(shipped.path).is_signed());
  static_cast<void>(write_bundle(shipped.path, shipped.contents, ours.signing()));
  const Bundle bundle = Bundle::open(shipped.path, ours.trusted());
  CHECK(bundle.is_signed());
  CHECK(bundle.producers().size() == 2);
  CHECK(bundle.entries().size() == some_names.size());
  for (const std::string& name : some_names) CHECK(bundle.find(sample(name).key()) == sample(name));
}

/// A bundle of records that are not packed, with one entry or more that say what is not so.
class LyingIndex {
 public:
  using Index = std::vector<bundle_format::IndexEntry>;

  LyingIndex() {
    static_cast<void>(write_bundle(path_, contents_of({dense_sample("a"), dense_sample("b"),
                                                       dense_sample("c"), dense_sample("d")})));
    honest_.emplace(content_of(path_));
  }

  /// What is said when the second record is looked for after this change, all checksums made to
  /// fit.
  template <class Change>
  std::string after(Change&& change) const {
    test::ForgedBundle forged = *honest_;
    change(forged.index);
    write_content(path_, forged.bytes());
    return refusal([&] {
      if (Bundle::open(path_).find(honest_->index[1].key)) throw Error("It was taken.");
    });
  }

 private:
  TemporaryFolder folder_;
  fs::path path_ = folder_.path() / "b";
  std::optional<test::ForgedBundle> honest_;
};

TEST_CASE("index entries that lie are refused with a sentence, though all checksums fit") {
  using bundle_format::Codec;
  using Index = LyingIndex::Index;
  constexpr std::uint64_t most = ~std::uint64_t{0};
  const LyingIndex lying;
  CHECK(lying.after([](Index&) {}) == "It was taken.");

  const auto lies_outside = [&](auto&& change) {
    return says(lying.after(change), "lies outside");
  };
  CHECK(lies_outside([](Index& i) { i[1].offset = most; }));
  CHECK(lies_outside([](Index& i) { i[1].offset = 0; }));
  CHECK(lies_outside([](Index& i) { i[1].stored_bytes = most; }));
  CHECK(lies_outside([](Index& i) { i[1].stored_bytes = most - i[1].offset + 1; }));
  CHECK(lies_outside([](Index& i) { i[3].key = i[1].key, i[1] = i[3], i[1].offset += 1; }));

  CHECK(says(lying.after([](Index& i) { i[1].record_bytes = most; }), "more than the"));
  CHECK(says(lying.after([](Index& i) { i[1].record_bytes = (256u << 20) + 1; }), "more than the"));
  CHECK(says(lying.after([](Index& i) { i[1].record_bytes += 1; }), "has two sizes"));
  CHECK(says(lying.after([](Index& i) { i[1].codec = Codec{7}; }), "unknown here (7)"));
  CHECK(says(lying.after([](Index& i) { i[1].codec = Codec::zstd; }), "does not unpack"));
  CHECK(says(lying.after([](Index& i) {
    i[1].codec = Codec::zstd;
    i[1].record_bytes = 1000 * i[1].stored_bytes + 1;
  }),
             "claims to unpack"));
  CHECK(says(lying.after([](Index& i) {
    i[1].codec = Codec::zstd;
    i[1].record_bytes = i[1].stored_bytes - 1;
  }),
             "is larger packed"));
  CHECK(says(lying.after([](Index& i) { i[1].stored_digest.bytes[0] ^= std::byte{1}; }),
             "does not fit its checksum"));
  CHECK(says(lying.after([](Index& i) { i[1].offset -= 1; }), "does not fit its checksum"));
  CHECK(says(lying.after([](Index& i) { std::swap(i[1].key, i[2].key), std::swap(i[1], i[2]); }),
             "has another key"));
}

TEST_CASE("a bundle whose entries are out of order or twice there is not listed") {
  const Shipped shipped;
  const test::ForgedBundle honest(content_of(shipped.path));
  for (const bool twice : {false, true}) {
    test::ForgedBundle forged = honest;
    if (twice)
      forged.index[2] = forged.index[1];
    else
      std::swap(forged.index[1], forged.index[2]);
    write_content(shipped.path, forged.bytes());
    CHECK(says(refusal([&] { static_cast<void>(Bundle::open(shipped.path).entries()); }),
               "out of order"));
    CHECK(look_for_all(shipped.path).wrong == 0);
  }
}

TEST_CASE("an index whose checksum does not fit is not listed") {
  const Shipped shipped;
  std::string changed = content_of(shipped.path);
  changed[changed.size() - bundle_format::footer_size - 1] ^= 1;
  write_content(shipped.path, changed);
  CHECK(says(refusal([&] { static_cast<void>(Bundle::open(shipped.path).entries()); }),
             "the checksum of its index does not fit"));
}

TEST_CASE("producers that are malformed, or whose names climb out of a folder, are refused") {
  const Shipped shipped;
  const test::ForgedBundle honest(content_of(shipped.path));
  const auto problem_with = [&](std::vector<std::byte> producers) {
    test::ForgedBundle forged = honest;
    forged.producers = std::move(producers);
    write_content(shipped.path, forged.bytes());
    return refusal([&] { static_cast<void>(Bundle::open(shipped.path).producers()); });
  };
  for (const std::string id : {"", ".", "..", "../../etc/passwd", "a/b", "/a", "a\n"})
    CHECK(says(problem_with(bundle_format::encode_producers(std::vector<Producer>{{id, ""}})),
               "list of producers is malformed"));
  CHECK(says(problem_with({}), "malformed"));
  CHECK(says(problem_with(std::vector<std::byte>(8, std::byte{0xff})), "malformed"));
  CHECK(says(problem_with(std::vector<std::byte>(9)), "malformed"));
  CHECK(says(problem_with(bundle_format::encode_producers(
                 std::vector<Producer>{{"a", std::string(4000, 'x')}})),
             "malformed"));
}

TEST_CASE("a footer with sizes that overflow, or do not fill the file, is refused") {
  const Shipped shipped;
  const std::string whole = content_of(shipped.path);
  const std::size_t footer = whole.size() - bundle_format::footer_size;
  for (const std::size_t number : {0u, 1u, 2u}) {  // offset and size of the producers; records
    for (const std::uint64_t value :
         {~std::uint64_t{0}, std::uint64_t{1} << 63, ~std::uint64_t{0} / 96, std::uint64_t{0},
          std::uint64_t{1}, std::uint64_t{1} << 40}) {
      ByteWriter writer(8);
      writer.add_number(value);
      std::string changed = whole;
      std::ranges::transform(writer.bytes(),
                             changed.begin() + static_cast<std::ptrdiff_t>(footer + 8 * number),
                             [](std::byte b) { return static_cast<char>(b); });
      write_content(shipped.path, changed);
      CHECK(says(opening_refusal(shipped.path), "its end is not that of a whole bundle"));
    }
  }
}

TEST_CASE("what is no bundle is refused with a sentence that names it") {
  const Shipped shipped;
  const fs::path other = shipped.folder.path() / "other";
  CHECK(says(opening_refusal(other), "No such file"));
  CHECK(says(opening_refusal(shipped.folder.path()), "is not a plain file"));
  REQUIRE(::mkfifo(other.c_str(), 0600) == 0);
  CHECK(says(opening_refusal(other), "The bundle " + other.string() + " is not used"));
  fs::remove(other);
  write_content(other, "");
  CHECK(says(opening_refusal(other), "has 0 bytes"));
  write_content(other, std::string(5000, 'x'));
  CHECK(says(opening_refusal(other), "does not start as a bundle does"));
  std::string later = content_of(shipped.path);
  later[8] = 2;
  write_content(other, later);
  CHECK(says(opening_refusal(other), "its format version is 2, and this program reads 1"));
}

TEST_CASE("a bundle that another user could have written is refused, unless its signature counts") {
  const Shipped shipped;
  const KeyPair pair(shipped.folder.path(), 1);
  static_cast<void>(write_bundle(shipped.path, shipped.contents, pair.signing()));
  for (const unsigned mode : {0664u, 0646u}) {
    fs::permissions(shipped.path, fs::perms(mode));
    CHECK(says(opening_refusal(shipped.path), "can be written by other users"));
    CHECK(opening_refusal(shipped.path, pair.trusted()) == "nothing");
  }
}

TEST_CASE("a bundle of another user is refused, one of root is not, nor a symbolic link to it") {
  if (::geteuid() != 0) {
    WARN("skipped: only root can give files away");
    return;
  }
  const Shipped shipped;
  fs::permissions(shipped.folder.path(), fs::perms(0755));
  const fs::path link = shipped.folder.path() / "link";
  fs::create_symlink(shipped.path, link);
  CHECK(opening_refusal(link) == "nothing");
  test::Child nobody([&] {
    test::become_nobody();
    return opening_refusal(link) == "nothing" ? 0 : 1;
  });
  CHECK(nobody.wait() == 0);
  REQUIRE(::chown(shipped.path.c_str(), 12345, 12345) == 0);
  CHECK(says(opening_refusal(link), "it belongs to user 12345"));
}

}  // namespace
}  // namespace jitbag::cache
