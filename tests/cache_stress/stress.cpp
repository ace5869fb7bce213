// Many processes find, claim and store records in one small folder, while some are killed and some
// stopped at random moments. In the end the folder must be as good as if nothing had happened.
//
//   jitbag_cache_stress [--seconds N] [--processes N] [--keys N] [--seed N]
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <map>
#include <new>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "cache/cache_folder.hpp"
#include "support/temporary_folder.hpp"

namespace {

namespace cache = jitbag::cache;
namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

struct Options {
  std::uint64_t seconds = 10;
  std::uint64_t processes = 32;
  std::uint64_t keys = 500;
  std::uint64_t seed = 1;
};

Options options_from(int count, char** arguments) {
  Options options;
  const std::map<std::string_view, std::uint64_t*> known{{"--seconds", &options.seconds},
                                                         {"--processes", &options.processes},
                                                         {"--keys", &options.keys},
                                                         {"--seed", &options.seed}};
  for (int i = 1; i < count; i += 2) {
    const auto option = known.find(arguments[i]);
    char* end = nullptr;
    if (option == known.end() || i + 1 == count)
      throw std::invalid_argument(std::string(arguments[i]) + " is no option with a value");
    *option->second = std::strtoull(arguments[i + 1], &end, 10);
    if (*end != '\0' || *option->second == 0)
      throw std::invalid_argument(std::string(arguments[i + 1]) + " is not a number from 1 on");
  }
  return options;
}

/// For printf.
unsigned long long number(std::uint64_t value) {
  return value;
}

/// What a key's record holds follows from its number, so that any reader can check it.
cache::Record numbered(std::uint64_t which) {
  std::mt19937_64 random(which);
  cache::Record record{{{"number", std::to_string(which)}}, {}};
  record.payload.resize(500 + random() % 3500);
  for (std::byte& byte : record.payload) byte = static_cast<std::byte>(random());
  return record;
}

/// What the processes have seen, for all of them together.
struct Counts {
  std::atomic<std::uint64_t> hits{0};
  std::atomic<std::uint64_t> stores{0};
  std::atomic<std::uint64_t> wrong{0};       ///< a record that is not the one asked for
  std::atomic<std::uint64_t> failures{0};    ///< a store that did not work
  std::atomic<std::uint64_t> complaints{0};  ///< a warning that nothing here accounts for
  std::atomic<std::uint64_t> in_vain{0};     ///< a holder was stopped
};

class SharedCounts {
 public:
  SharedCounts() {
    void* memory =
        ::mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    counts_ = new (memory) Counts;
  }
  SharedCounts(const SharedCounts&) = delete;
  SharedCounts& operator=(const SharedCounts&) = delete;
  ~SharedCounts() { ::munmap(counts_, sizeof(Counts)); }
  Counts& operator*() const { return *counts_; }
  Counts* operator->() const { return counts_; }

 private:
  Counts* counts_;
};

void count_warning(Counts& counts, std::string_view sentence) {
  if (sentence.find("too small for the work in hand") != std::string_view::npos) return;
  if (sentence.find("Another process has held") != std::string_view::npos) {
    ++counts.in_vain;
    return;
  }
  ++counts.complaints;
  std::fprintf(stderr, "unexpected: %.*s\n", static_cast<int>(sentence.size()), sentence.data());
}

/// Looks, claims, looks again, makes, as an engine does.
void use_one(const cache::DiskCache& cache, std::uint64_t which, Counts& counts) {
  const cache::Record record = numbered(which);
  const auto is_there = [&] {
    const auto found = cache.find(record.key());
    if (found) ++counts.hits;
    if (found && *found != record) ++counts.wrong;
    return found.has_value();
  };
  if (is_there()) return;
  const cache::Claim claim = cache.claim(record.key(), 500ms);
  if (is_there()) return;
  ++(cache.store(record) ? counts.stores : counts.failures);
}

[[noreturn]] void work(const fs::path& folder, std::uint64_t max_bytes, const Options& options,
                       std::uint64_t seed, Counts& counts) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  std::mt19937_64 random(seed);
  while (true) {
    // A new object now and then, as in a new process.
    const cache::DiskCache cache(
        folder, [&](std::string_view sentence) { count_warning(counts, sentence); }, max_bytes);
    for (int i = 0; i < 200; ++i) {
      // Some keys are wanted more often than others.
      use_one(cache, std::min(random() % options.keys, random() % options.keys), counts);
      if (random() % 500 == 0) cache.discard(numbered(random() % options.keys).key());
    }
  }
}

/// The processes, one of which is killed or stopped every few milliseconds.
class Crowd {
 public:
  Crowd(const fs::path& folder, std::uint64_t max_bytes, const Options& options, Counts& counts)
      : folder_(folder), max_bytes_(max_bytes), options_(options), counts_(counts) {
    for (std::uint64_t i = 0; i < options.processes; ++i) members_.push_back({start(), false});
  }
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;
  ~Crowd() {
    for (const Member& member : members_) end(member);
  }

  void disturb_one() {
    Member& member = members_[random_() % members_.size()];
    if (random_() % 3 == 0) {
      end(member);
      member = {start(), false};
      ++kills_;
    } else if (member.stopped) {
      ::kill(member.process, SIGCONT);
      member.stopped = false;
    } else if (random_() % 4 == 0) {
      ::kill(member.process, SIGSTOP);
      member.stopped = true;
      ++stops_;
    }
  }

  [[nodiscard]] std::uint64_t kills() const { return kills_; }
  [[nodiscard]] std::uint64_t stops() const { return stops_; }

 private:
  struct Member {
    pid_t process;
    bool stopped;
  };

  pid_t start() {
    const std::uint64_t seed = random_();
    const pid_t process = ::fork();
    if (process < 0) throw std::runtime_error("fork failed");
    if (process == 0) work(folder_, max_bytes_, options_, seed, counts_);
    return process;
  }
  static void end(const Member& member) {
    ::kill(member.process, SIGKILL);
    ::waitpid(member.process, nullptr, 0);
  }

  const fs::path& folder_;
  std::uint64_t max_bytes_;
  const Options& options_;
  Counts& counts_;
  std::mt19937_64 random_{options_.seed};
  std::vector<Member> members_;
  std::uint64_t kills_ = 0;
  std::uint64_t stops_ = 0;
};

std::uint64_t bytes_in(const cache::DiskCache& cache) {
  std::uint64_t sum = 0;
  for (const cache::Entry& entry : cache.entries()) sum += entry.bytes;
  return sum;
}

ino_t inode_of(const fs::path& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 ? info.st_ino : 0;
}

std::vector<fs::path> leftovers_below(const fs::path& folder) {
  std::vector<fs::path> found;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (entry.path().filename().string().find('+') != std::string::npos)
      found.push_back(entry.path());
  return found;
}

/// Says what does not hold, and counts it.
class Findings {
 public:
  void require(bool holds, const std::string& sentence) {
    if (holds) return;
    ++count_;
    std::fprintf(stderr, "FOUND: %s\n", sentence.c_str());
  }
  [[nodiscard]] int count() const { return count_; }

 private:
  int count_ = 0;
};

/// Keeps the crowd busy for the time given; gives the most bytes that were seen in the folder.
std::uint64_t run(Crowd& crowd, const cache::DiskCache& cache, const Options& options,
                  const Counts& counts) {
  std::mt19937_64 random(options.seed + 1);
  std::uint64_t most_bytes = 0;
  const auto end = Clock::now() + std::chrono::seconds(options.seconds);
  auto next_report = Clock::now();
  while (Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
    crowd.disturb_one();
    if (Clock::now() < next_report) continue;
    next_report = Clock::now() + 1s;
    most_bytes = std::max(most_bytes, bytes_in(cache));
    const auto left = std::chrono::duration_cast<std::chrono::seconds>(end - Clock::now());
    std::fprintf(stderr, "%3lld s left: %llu hits, %llu stores, %llu killed, %llu stopped\n",
                 static_cast<long long>(left.count()), number(counts.hits), number(counts.stores),
                 number(crowd.kills()), number(crowd.stops()));
  }
  return most_bytes;
}

void check_claims(const fs::path& folder, const Options& options, Findings& findings) {
  int warnings = 0;
  const cache::DiskCache cache(folder, [&](std::string_view) { ++warnings; });
  for (std::uint64_t i = 0; i < options.keys; ++i)
    const cache::Claim claim = cache.claim(numbered(i).key(), 0ms);
  findings.require(warnings == 0, "a claim is still held although every process has ended");
}

void check_leftovers(const cache::DiskCache& cache, Findings& findings) {
  for (const fs::path& path : leftovers_below(cache.directory()))
    jitbag::test::set_age(path, 2 * 3600);
  static_cast<void>(cache.prune({}));
  for (const fs::path& path : leftovers_below(cache.directory()))
    findings.require(false, path.string() + " is left over");
}

int stress(const Options& options) {
  const jitbag::test::TemporaryFolder place;
  const fs::path folder = place.path() / "cache";
  std::uint64_t all_bytes = 0;
  for (std::uint64_t i = 0; i < options.keys; ++i) all_bytes += encode(numbered(i)).size();
  const std::uint64_t max_bytes = all_bytes / 4;
  const cache::DiskCache cache(folder, {}, max_bytes);
  { const cache::Claim makes_the_lock = cache.claim(numbered(0).key(), 0ms); }
  const ino_t lock = inode_of(folder / "lock");

  const SharedCounts counts;
  std::uint64_t most_bytes = 0;
  std::uint64_t kills = 0;
  std::uint64_t stops = 0;
  {
    Crowd crowd(folder, max_bytes, options, *counts);
    most_bytes = run(crowd, cache, options, *counts);
    kills = crowd.kills();
    stops = crowd.stops();
  }

  Findings findings;
  findings.require(counts->wrong == 0, "a reader got wrong bytes");
  findings.require(counts->failures == 0, "a store failed");
  findings.require(counts->complaints == 0, "there were warnings without a reason");
  findings.require(counts->hits > 0 && counts->stores > options.keys && kills > 0 && stops > 0,
                   "too little happened for this to prove anything; give it more --seconds");
  for (const auto& damage : cache.verify().damaged)
    findings.require(false, damage.path.string() + ": " + damage.sentence);
  check_claims(folder, options, findings);
  findings.require(cache.store(numbered(options.keys)), "no record can be stored afterwards");
  findings.require(bytes_in(cache) <= max_bytes, "the folder is above its limit");
  check_leftovers(cache, findings);
  findings.require(inode_of(folder / "lock") == lock, "the lock is another file than before");

  std::printf(
      "%llu hits, %llu stores, %llu killed, %llu stopped, %llu waits in vain; at most %llu of %llu "
      "bytes in the folder; seed %llu; %d findings\n",
      number(counts->hits), number(counts->stores), number(kills), number(stops),
      number(counts->in_vain), number(most_bytes), number(max_bytes), number(options.seed),
      findings.count());
  return findings.count() == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    return stress(options_from(count, arguments));
  } catch (const std::invalid_argument& problem) {
    std::fprintf(stderr,
                 "jitbag_cache_stress: %s; the options are --seconds N --processes N --keys N "
                 "--seed N\n",
                 problem.what());
    return 2;
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "jitbag_cache_stress: %s\n", problem.what());
    return 1;
  }
}
