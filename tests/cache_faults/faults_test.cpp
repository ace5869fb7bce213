// Every system call that the cache makes fails once, each in its turn and in every way that it can,
// and then for ever. Whatever failed: nothing throws that should not, no wrong byte is given out,
// no file stays open, and the next run, on which nothing fails, finds a folder that it can use.
#include "cache_faults/faults.hpp"

#include <sys/stat.h>

#include <cerrno>
#include <chrono>
#include <iterator>
#include <string>
#include <vector>

#include "cache/cache_folder.hpp"
#include "cache/child.hpp"
#include "catch.hpp"
#include "jitbag/cache/bundle.hpp"
#include "jitbag/cache/bundle_layer.hpp"
#include "jitbag/cache/error.hpp"
#include "jitbag/cache/folder_layer.hpp"

namespace jitbag::cache {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using test::Armed;
using test::CacheFolder;
using test::Call;
using test::Fault;
using test::sample;

const std::vector<Call> interruptible{Call::fcntl,  Call::fsync, Call::ftruncate, Call::getrandom,
                                      Call::openat, Call::pread, Call::pwrite};

const std::vector<Fault> faults{
    {"EIO", EIO},
    {"EACCES", EACCES},
    {"ENOENT", ENOENT},
    {"ESTALE", ESTALE, {Call::openat, Call::fstat, Call::fstatat, Call::pread, Call::readdir}},
    {"no space",
     ENOSPC,
     {Call::pwrite, Call::fsync, Call::openat, Call::mkdir, Call::mkdirat, Call::renameat,
      Call::ftruncate}},
    {"read-only",
     EROFS,
     {Call::openat, Call::mkdir, Call::mkdirat, Call::renameat, Call::unlinkat, Call::futimens}},
    {"too many open", EMFILE, {Call::openat, Call::fdopendir}},
    {"no locks", ENOLCK, {Call::fcntl}},
    {"locks unsupported", EOPNOTSUPP, {Call::fcntl}},
};

const std::vector<Fault> harmless{
    {"interrupted", EINTR, interruptible},
    {"short", 0, {Call::pread, Call::pwrite}},
    {"close fails", EIO, {Call::close, Call::closedir}},
};

std::ptrdiff_t open_files() {
  return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
}

Record large(const std::string& name) {
  Record record = sample("large " + name);
  record.payload.resize(5000, std::byte{3});
  return record;
}

BundleContents bundle_of(const std::vector<std::string>& names) {
  BundleContents contents{.keys = {}, .producers = {{"build", "a compiler"}}, .read = {}};
  for (const std::string& name : names) contents.keys.push_back(sample(name).key());
  contents.read = [names](const Digest& key) -> std::optional<Record> {
    for (const std::string& name : names) {
      if (sample(name).key() == key) return sample(name);
    }
    return {};
  };
  return contents;
}

/// A folder in which much has happened, and a bundle.
struct Scene {
  CacheFolder folder;
  fs::path layer_folder = folder.parent() / "layer";
  fs::path new_folder = folder.parent() / "not" / "there" / "yet";
  fs::path bundle = folder.parent() / "shipped.bundle";
  fs::path damaged;
  fs::path blocked;

  Scene() {
    write_bundle(bundle, bundle_of({"a", "b"}));
    const DiskCache filling(folder.path(), {});
    for (const char* name : {"a", "b", "c"}) {
      if (!filling.store(sample(name))) throw std::runtime_error("no scene can be set");
      test::set_age(filling.path_of(sample(name).key()), 7200);
    }
    static_cast<void>(filling.store(large("damaged")));
    damaged = filling.path_of(large("damaged").key());
    test::write_content(damaged, "damaged");
    test::set_age(damaged, 7200);
    static_cast<void>(filling.store(large("blocked")));
    blocked = filling.path_of(large("blocked").key());
    fs::remove(blocked);
    fs::create_directories(blocked / "full" / "of");
    test::set_age(blocked, 7200);
    filling.remember({"build", "a compiler"});
    fs::create_directories(folder.path() / "records" / ".old+1" / "full");
    test::write_content(folder.path() / "records" / ".new+2", "half");
    test::set_age(folder.path() / "records" / ".old+1", 4000);
    test::set_age(folder.path() / "records" / ".new+2", 4000);
    fs::create_directory_symlink("cache", layer_folder);
  }
};

/// Whether what was found is right: the record, or nothing.
bool is_right(const std::optional<Record>& found, const Record& wanted) {
  return !found || *found == wanted;
}

/// One thing that the cache does. True: what it gave is right.
struct Operation {
  const char* name;
  std::function<bool(const Scene&, const Warn&)> run;
  std::vector<Record> may_remove = {};
  int warnings = 0;  ///< where nothing fails
};

/// A store that claims success has one: the record is there when nothing fails.
bool store_is_honest(const DiskCache& cache, const Record& record) {
  const bool stored = cache.store(record);
  struct stat info {};
  return !stored || ::stat(cache.path_of(record.key()).c_str(), &info) == 0;
}

/// Upkeep may say that it did not work, and nothing else.
template <class Action>
bool works_or_errs(Action&& action) {
  try {
    action();
  } catch (const Error&) {
  }
  return true;
}

const std::vector<Operation> operations{
    {"store into a new folder",
     [](const Scene& scene, const Warn& warn) {
       return store_is_honest(DiskCache(scene.new_folder, warn), sample("new"));
     }},
    {"store",
     [](const Scene& scene, const Warn& warn) {
       return store_is_honest(DiskCache(scene.folder.path(), warn), sample("new"));
     }},
    {"store what is there",
     [](const Scene& scene, const Warn& warn) {
       return store_is_honest(DiskCache(scene.folder.path(), warn), sample("a"));
     }},
    {"store over damage",
     [](const Scene& scene, const Warn& warn) {
       return store_is_honest(DiskCache(scene.folder.path(), warn), large("damaged"));
     }},
    {"store over a folder",
     [](const Scene& scene, const Warn& warn) {
       return store_is_honest(DiskCache(scene.folder.path(), warn), large("blocked"));
     }},
    {"store and evict",
     [](const Scene& scene, const Warn& warn) {
       const std::uint64_t limit = encode(large("new")).size() + encode(sample("a")).size();
       return store_is_honest(DiskCache(scene.folder.path(), warn, limit), large("new"));
     },
     {sample("a"), sample("b"), sample("c")}},
    {"find",
     [](const Scene& scene, const Warn& warn) {
       return is_right(DiskCache(scene.folder.path(), warn).find(sample("a").key()), sample("a"));
     }},
    {"find nothing",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       return !cache.find(sample("new").key()) && !cache.find(large("damaged").key());
     },
     {},
     1},
    {"claim",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       const Claim claim = cache.claim(sample("a").key(), 5ms);
       return true;
     }},
    {"discard",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       cache.discard(sample("a").key());
       cache.discard(large("blocked").key());
       return true;
     },
     {sample("a")}},
    {"remember",
     [](const Scene& scene, const Warn& warn) {
       DiskCache(scene.folder.path(), warn).remember({"other", "another compiler"});
       return true;
     }},
    {"producers",
     [](const Scene& scene, const Warn& warn) {
       const auto producers = DiskCache(scene.folder.path(), warn).producers();
       return producers.empty() || producers == std::vector<Producer>{{"build", "a compiler"}};
     }},
    {"health",
     [](const Scene& scene, const Warn& warn) {
       return !DiskCache(scene.folder.path(), warn).health().sentence.empty();
     }},
    {"entries",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       return works_or_errs([&] { static_cast<void>(cache.entries()); });
     }},
    {"verify",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       return works_or_errs([&] { static_cast<void>(cache.verify()); });
     }},
    {"prune damage",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       return works_or_errs([&] { static_cast<void>(cache.prune({})); });
     }},
    {"prune to a size",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       return works_or_errs([&] { static_cast<void>(cache.prune({.max_bytes = 1})); });
     },
     {sample("a"), sample("b"), sample("c")}},
    {"clear",
     [](const Scene& scene, const Warn& warn) {
       const DiskCache cache(scene.folder.path(), warn);
       return works_or_errs([&] { static_cast<void>(cache.clear()); });
     },
     {sample("a"), sample("b"), sample("c")}},
    {"a layer's find",
     [](const Scene& scene, const Warn& warn) {
       const FolderLayer layer(scene.layer_folder, warn);
       return is_right(layer.find(sample("a").key()), sample("a"));
     }},
    {"a layer's lists",
     [](const Scene& scene, const Warn& warn) {
       const FolderLayer layer(scene.layer_folder, warn);
       const auto count = layer.keys().size();
       return count <= 5 && layer.producers().size() <= 1;
     }},
    {"replace a bundle",
     [](const Scene& scene, const Warn&) {
       return works_or_errs([&] { write_bundle(scene.bundle, bundle_of({"a", "b", "c"})); });
     }},
    {"a bundle's find",
     [](const Scene& scene, const Warn&) {
       bool right = true;
       return works_or_errs([&] {
                right = is_right(Bundle::open(scene.bundle).find(sample("a").key()), sample("a"));
              }) &&
              right;
     }},
    {"a bundle layer's find",
     [](const Scene& scene, const Warn& warn) {
       const BundleLayer layer(scene.bundle, {}, warn);
       return is_right(layer.find(sample("a").key()), sample("a")) && layer.keys().size() <= 2;
     }},
};

bool may_have_removed(const Operation& operation, const Record& record) {
  return std::ranges::find(operation.may_remove, record) != operation.may_remove.end();
}

/// What holds after any run, told by caches on which nothing fails.
void check_usable(const Scene& scene, const Operation& operation) {
  std::vector<std::string> warnings;
  const DiskCache cache(scene.folder.path(),
                        [&](std::string_view sentence) { warnings.emplace_back(sentence); });
  for (const char* name : {"a", "b", "c"}) {
    const auto found = cache.find(sample(name).key());
    if (!found && !may_have_removed(operation, sample(name))) FAIL(name << " is lost");
    if (found && *found != sample(name)) FAIL(name << " is wrong");
  }
  for (const Record& record :
       {sample("a"), sample("b"), sample("new"), large("new"), large("damaged"), large("blocked")})
    if (!cache.store(record) || cache.find(record.key()) != record) FAIL("no record can be stored");
  if (!DiskCache(scene.new_folder, {}).store(sample("new"))) FAIL("no folder can be made");
  const Verified verified = cache.verify();
  if (!verified.damaged.empty()) FAIL(verified.damaged[0].path << verified.damaged[0].sentence);
  { const Claim claim = cache.claim(sample("a").key(), 0ms); }
  if (cache.producers().empty() && std::string(operation.name) != "clear") FAIL("no producer");
  if (!warnings.empty()) FAIL(warnings[0]);
  if (Bundle::open(scene.bundle).find(sample("a").key()) != sample("a")) FAIL("the bundle is lost");
  // A small limit is kept from now on, whatever the total says.
  const std::uint64_t limit = 2 * encode(large("more")).size();
  if (!DiskCache(scene.folder.path(), {}, limit).store(large("more"))) FAIL("no store");
  std::uint64_t bytes = 0;
  for (const Entry& entry : cache.entries()) bytes += entry.bytes;
  if (bytes > limit) FAIL(bytes << " bytes are above the limit of " << limit);
}

/// Runs the operation with the fault at its first call, its second and so on, until there are no
/// more calls. Gives the number of runs that met one.
int run_with_each(const Operation& operation, const Fault& fault, bool quietly) {
  for (int number = 0;; ++number) {
    INFO(operation.name << ", " << fault.name << " at call " << number);
    const Scene scene;
    int warnings = 0;
    const auto open_before = open_files();
    bool right = false;
    bool met = false;
    {
      const Armed armed(fault, number);
      right = operation.run(scene, [&](std::string_view) { ++warnings; });
      met = armed.met();
    }
    if (!right) FAIL("a wrong answer");
    if (open_files() != open_before) FAIL("a file was left open");
    if (quietly && warnings != operation.warnings) FAIL("a warning of something harmless");
    check_usable(scene, operation);
    if (!met) return number;
  }
}

TEST_CASE("any system call may fail once, in any way, at any moment") {
  int runs = 0;
  for (const Operation& operation : operations)
    for (const Fault& fault : faults) runs += run_with_each(operation, fault, false);
  CHECK(runs > 1000);
}

TEST_CASE("a call that is interrupted, does half of its work, or cannot close, is no failure") {
  int runs = 0;
  for (const Operation& operation : operations)
    for (const Fault& fault : harmless) runs += run_with_each(operation, fault, true);
  CHECK(runs > 300);
}

TEST_CASE("from any moment on all calls may fail") {
  const std::vector<Call> writing{Call::pwrite, Call::fsync, Call::mkdirat, Call::mkdir};
  int runs = 0;
  for (const Operation& operation : operations)
    for (const Fault& fault :
         {Fault{"EIO", EIO, {}, true}, Fault{"no space", ENOSPC, writing, true},
          Fault{"too many open", EMFILE, {Call::openat}, true}})
      runs += run_with_each(operation, fault, false);
  CHECK(runs > 500);
}

TEST_CASE("every system call has been made to fail") {
  for (int call = 0; call < test::call_count; ++call) {
    INFO(call);
    // A fortified C library reads links by another name.
    if (static_cast<Call>(call) != Call::readlinkat)
      CHECK(test::times_made(static_cast<Call>(call)) > 0);
  }
}

std::uint64_t bytes_in(const DiskCache& cache) {
  std::uint64_t sum = 0;
  for (const Entry& entry : cache.entries()) sum += entry.bytes;
  return sum;
}

/// What is done to a folder with a limit. True: it worked.
struct Deed {
  const char* name;
  std::function<bool(const DiskCache&, const std::string& who)> run;
};

const Deed stores{"store", [](const DiskCache& cache, const std::string& who) {
                    return cache.store(large(who + "0"));
                  }};
const Deed stores_two{"store two", [](const DiskCache& cache, const std::string& who) {
                        return cache.store(large(who + "1")) && cache.store(large(who + "2"));
                      }};
const Deed prunes{"prune", [](const DiskCache& cache, const std::string&) {
                    return works_or_errs([&] { static_cast<void>(cache.prune({})); });
                  }};

enum Met { within, above, failed, never };

/// The others meet a store or prune before the system call with that number.
Met meet(const Deed& own, const Deed& others, int records, int moment) {
  const std::uint64_t limit = 10 * encode(large("00")).size();
  const CacheFolder folder;
  const DiskCache cache(folder.path(), {}, limit);
  bool works = true;
  for (int i = 0; i < records; ++i) works = cache.store(large("0" + std::to_string(i))) && works;
  const Fault meanwhile{.name = "others",
                        .meanwhile = [&] { works = others.run(cache, "2") && works; }};
  bool met = false;
  {
    const Armed armed(meanwhile, moment);
    works = own.run(cache, "1") && works;
    met = armed.met();
  }
  if (!works) return failed;
  if (bytes_in(cache) > limit) return above;
  return met ? within : never;
}

TEST_CASE("whatever others do at any moment, the folder is within its limit afterwards",
          "[others]") {
  // Side by side: where they meet at a lock they wait.
  constexpr int at_a_time = 64;
  const int records = GENERATE(8, 10);
  for (const Deed& own : {stores, prunes}) {
    for (const Deed& others : {stores_two, prunes}) {
      bool met = true;
      for (int first = 0; met; first += at_a_time) {
        std::vector<test::Child> children;
        for (int i = 0; i < at_a_time; ++i)
          children.emplace_back([&, i] { return meet(own, others, records, first + i); });
        for (int i = 0; i < at_a_time; ++i) {
          INFO(records << " records, " << own.name << ", before call " << first + i << ' '
                       << others.name);
          const int outcome = children[static_cast<std::size_t>(i)].wait();
          CHECK((outcome == within || outcome == never));
          met = met && outcome == within;
        }
      }
    }
  }
}

TEST_CASE(
    "however often others store while one evicts, the folder is within its limit afterwards") {
  const std::uint64_t limit = 20 * encode(large("00")).size();
  CacheFolder folder;
  const DiskCache cache(folder.path(), {}, limit);
  for (int i = 10; i < 30; ++i) REQUIRE(cache.store(large(std::to_string(i))));
  int stored = 30;
  // Three records leave and three come, in each of twenty passes.
  const std::function<void()> others_store = [&] {
    for (int i = 0; i < 3; ++i) CHECK(cache.store(large(std::to_string(stored++))));
    test::just_before(Call::fdopendir, [&] {
      if (stored < 90) test::just_before(Call::unlinkat, others_store);
    });
  };
  test::just_before(Call::unlinkat, others_store);
  REQUIRE(cache.store(large("99")));
  CHECK(stored == 90);
  CHECK(bytes_in(cache) <= limit);
}

TEST_CASE("without locks two processes make the same record, and neither breaks") {
  CacheFolder folder;
  const int error = GENERATE(ENOLCK, EOPNOTSUPP, EINVAL, ENOSYS);
  const Fault no_locks{"no locks", error, {Call::fcntl}, true};
  const test::Gate both_hold;
  const test::Gate go_on[2];
  std::vector<test::Child> children;
  for (int i = 0; i < 2; ++i) {
    children.emplace_back([&, i] {
      const Armed armed(no_locks, 0);
      std::vector<std::string> warnings;
      const DiskCache cache(folder.path(),
                            [&](std::string_view said) { warnings.emplace_back(said); });
      const Claim claim = cache.claim(sample("a").key(), 10min);
      both_hold.open();
      if (!go_on[i].wait()) return 1;
      if (cache.find(sample("a").key()) && i == 0) return 2;
      if (!cache.store(sample("a")) || cache.find(sample("a").key()) != sample("a")) return 3;
      if (warnings.size() != 1) return 4;
      return warnings[0].find("cannot be locked") != std::string::npos ? 0 : 5;
    });
  }
  REQUIRE(both_hold.wait());
  REQUIRE(both_hold.wait());
  go_on[0].open();
  CHECK(children[0].wait() == 0);
  go_on[1].open();
  CHECK(children[1].wait() == 0);
  CHECK(folder.cache().find(sample("a").key()) == sample("a"));
  CHECK(folder.cache().verify().damaged.empty());
}

TEST_CASE("without locks many processes store, find and evict, and the folder stays good") {
  CacheFolder folder;
  const Fault no_locks{"no locks", ENOLCK, {Call::fcntl}, true};
  const std::uint64_t limit = 10 * encode(large("00")).size();
  std::vector<test::Child> children;
  for (int i = 0; i < 6; ++i) {
    children.emplace_back([&folder, &no_locks, limit, i] {
      const Armed armed(no_locks, 0);
      const DiskCache cache(folder.path(), {}, limit);
      for (int round = 0; round < 60; ++round) {
        const Record record = large(std::to_string(10 + (round * 7 + i) % 30));
        if (!is_right(cache.find(record.key()), record)) return 1;
        const Claim claim = cache.claim(record.key(), 1s);
        if (!cache.store(record)) return 2;
      }
      return 0;
    });
  }
  for (test::Child& child : children) CHECK(child.wait() == 0);
  CHECK(folder.cache().verify().damaged.empty());
  fs::remove(folder.path() / "total");  // updates that were lost do not matter after a count
  REQUIRE(DiskCache(folder.path(), {}, limit).store(large("99")));
  std::uint64_t bytes = 0;
  for (const Entry& entry : folder.cache().entries()) bytes += entry.bytes;
  CHECK(bytes <= limit);
}

TEST_CASE(
    "whoever loses the race of two renames has a whole record all the same (field finding 2)") {
  CacheFolder folder;
  const DiskCache winner(folder.path(), {});
  Record of_loser = sample("a");
  of_loser.payload = test::bytes_of("the loser's own bytes");
  test::just_before(Call::renameat, [&] { CHECK(winner.store(sample("a"))); });
  CHECK(folder.cache().store(of_loser));
  const auto found = folder.cache().find(of_loser.key());
  REQUIRE(found);
  CHECK((*found == of_loser || *found == sample("a")));
  CHECK(folder.cache().verify().damaged.empty());
  CHECK(folder.warnings().empty());
}

TEST_CASE(
    "a record used between the list and its removal stays, and one that is gone is no trouble") {
  CacheFolder folder;
  for (const char* name : {"a", "b", "c"}) {
    REQUIRE(folder.cache().store(sample(name)));
    test::set_age(folder.cache().path_of(sample(name).key()), 7200);
  }
  const std::uint64_t size = encode(sample("a")).size();
  SECTION("used") {
    test::just_before(Call::unlinkat, [&] {
      for (const char* name : {"a", "b", "c"}) CHECK(folder.cache().find(sample(name).key()));
    });
    const Removed removed = folder.cache().prune({.max_bytes = size});
    CHECK(removed.records == 1);  // the one that was about to go
    CHECK(folder.cache().entries().size() == 2);
  }
  SECTION("gone (cuda-python#1912)") {
    test::just_before(Call::unlinkat, [&] {
      for (const Entry& entry : folder.cache().entries()) folder.cache().discard(entry.key);
    });
    const Removed removed = folder.cache().prune({.max_bytes = size});
    CHECK(removed.records == 0);
    CHECK(folder.cache().entries().empty());
  }
  CHECK(folder.warnings().empty());
}

}  // namespace
}  // namespace jitbag::cache
