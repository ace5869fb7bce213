#pragma once

#include <cerrno>
#include <functional>
#include <string>
#include <vector>

namespace jitbag::test {

/// The system calls that this program can make fail. The linker puts faults.cpp in their place.
enum class Call {
  close,
  closedir,
  fchmod,
  fcntl,
  fdopendir,
  fstat,
  fstatat,
  fsync,
  ftruncate,
  futimens,
  getrandom,
  mkdir,
  mkdirat,
  openat,
  pread,
  pwrite,
  readdir,
  readlinkat,
  renameat,
  unlinkat
};
inline constexpr int call_count = static_cast<int>(Call::unlinkat) + 1;

/// What goes wrong, and where it can.
struct Fault {
  std::string name;
  int error = 0;                 ///< errno; 0: the call does only half of what it was asked to do
  std::vector<Call> calls = {};  ///< empty: any
  bool for_ever = false;         ///< from then on
  std::function<void()> meanwhile = {};  ///< done before the call, which then works
};

/// As long as this lives, the call with this number, of those that the fault can meet, fails.
class Armed {
 public:
  Armed(const Fault& fault, int number);
  Armed(const Armed&) = delete;
  Armed& operator=(const Armed&) = delete;
  ~Armed();
  /// Whether there were so many calls.
  [[nodiscard]] bool met() const;
};

/// How often a call was made while faults were armed, in this whole process.
[[nodiscard]] long times_made(Call call);

/// Done once, just before the next call of this kind.
void just_before(Call call, std::function<void()> action);

}  // namespace jitbag::test
