#include "cache_faults/faults.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <utility>

namespace jitbag::test {
namespace {

struct State {
  const Fault* fault = nullptr;
  int calls_left = 0;
  bool met = false;
  std::array<long, call_count> made{};
  std::array<std::function<void()>, call_count> before{};
};
State state;

bool can_meet(const Fault& fault, Call call) {
  return fault.calls.empty() || std::ranges::find(fault.calls, call) != fault.calls.end();
}

enum class Outcome { works, fails, halves };

/// What is to become of a call, with errno.
Outcome next(Call call) {
  if (auto action = std::exchange(state.before[static_cast<std::size_t>(call)], {})) action();
  if (state.fault == nullptr) return Outcome::works;
  ++state.made[static_cast<std::size_t>(call)];
  if (!can_meet(*state.fault, call)) return Outcome::works;
  const bool due = state.calls_left-- == 0 || (state.fault->for_ever && state.met);
  if (!due) return Outcome::works;
  state.met = true;
  if (state.fault->meanwhile) {
    const Fault* const fault = std::exchange(state.fault, nullptr);  // it makes calls of its own
    const int reason = errno;
    fault->meanwhile();
    errno = reason;
    state.fault = fault;
    return Outcome::works;
  }
  if (state.fault->error == 0) return Outcome::halves;
  errno = state.fault->error;
  return Outcome::fails;
}

/// The call, or its failure.
template <class Result, class Real>
Result made(Call call, Result failure, Real&& real) {
  return next(call) == Outcome::fails ? failure : real();
}

std::size_t some_of(Call call, std::size_t size, bool& fails) {
  const Outcome outcome = next(call);
  fails = outcome == Outcome::fails;
  return outcome == Outcome::halves ? (size + 1) / 2 : size;
}

}  // namespace

Armed::Armed(const Fault& fault, int number) {
  state.fault = &fault;
  state.calls_left = number;
  state.met = false;
}

Armed::~Armed() {
  state.fault = nullptr;
}

bool Armed::met() const {
  return state.met;
}

long times_made(Call call) {
  return state.made[static_cast<std::size_t>(call)];
}

void just_before(Call call, std::function<void()> action) {
  state.before[static_cast<std::size_t>(call)] = std::move(action);
}

}  // namespace jitbag::test

// The names that the linker's --wrap asks for.
// NOLINTBEGIN(clang-diagnostic-reserved-identifier)
extern "C" {

using jitbag::test::Call;
using jitbag::test::made;
using jitbag::test::some_of;

int __real_close(int file);
int __wrap_close(int file) {
  const int done = __real_close(file);  // Linux closes the file whatever it says
  return made(Call::close, -1, [&] { return done; });
}

int __real_closedir(DIR* stream);
int __wrap_closedir(DIR* stream) {
  const int done = __real_closedir(stream);
  return made(Call::closedir, -1, [&] { return done; });
}

int __real_fcntl(int file, int command, ...);
int __wrap_fcntl(int file, int command, ...) {
  va_list arguments;
  va_start(arguments, command);
  void* argument = va_arg(arguments, void*);
  va_end(arguments);
  return made(Call::fcntl, -1, [&] { return __real_fcntl(file, command, argument); });
}

DIR* __real_fdopendir(int file);
DIR* __wrap_fdopendir(int file) {
  return made(Call::fdopendir, static_cast<DIR*>(nullptr), [&] { return __real_fdopendir(file); });
}

int __real_fstat(int file, struct stat* info);
int __wrap_fstat(int file, struct stat* info) {
  return made(Call::fstat, -1, [&] { return __real_fstat(file, info); });
}

int __real_fstatat(int folder, const char* path, struct stat* info, int flags);
int __wrap_fstatat(int folder, const char* path, struct stat* info, int flags) {
  return made(Call::fstatat, -1, [&] { return __real_fstatat(folder, path, info, flags); });
}

/// Nobody pulls the plug here, and a real one takes its time.
int __wrap_fsync(int) {
  return made(Call::fsync, -1, [] { return 0; });
}

int __real_fchmod(int file, mode_t mode);
int __wrap_fchmod(int file, mode_t mode) {
  return made(Call::fchmod, -1, [&] { return __real_fchmod(file, mode); });
}

int __real_ftruncate(int file, off_t size);
int __wrap_ftruncate(int file, off_t size) {
  return made(Call::ftruncate, -1, [&] { return __real_ftruncate(file, size); });
}

int __real_futimens(int file, const struct timespec* times);
int __wrap_futimens(int file, const struct timespec* times) {
  return made(Call::futimens, -1, [&] { return __real_futimens(file, times); });
}

ssize_t __real_getrandom(void* bytes, size_t size, unsigned flags);
ssize_t __wrap_getrandom(void* bytes, size_t size, unsigned flags) {
  return made(Call::getrandom, ssize_t{-1}, [&] { return __real_getrandom(bytes, size, flags); });
}

int __real_mkdir(const char* path, mode_t mode);
int __wrap_mkdir(const char* path, mode_t mode) {
  return made(Call::mkdir, -1, [&] { return __real_mkdir(path, mode); });
}

int __real_mkdirat(int folder, const char* path, mode_t mode);
int __wrap_mkdirat(int folder, const char* path, mode_t mode) {
  return made(Call::mkdirat, -1, [&] { return __real_mkdirat(folder, path, mode); });
}

int __real_openat(int folder, const char* path, int flags, ...);
int __wrap_openat(int folder, const char* path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const auto mode = va_arg(arguments, mode_t);
  va_end(arguments);
  return made(Call::openat, -1, [&] { return __real_openat(folder, path, flags, mode); });
}

ssize_t __real_pread(int file, void* bytes, size_t size, off_t at);
ssize_t __wrap_pread(int file, void* bytes, size_t size, off_t at) {
  bool fails = false;
  const size_t some = some_of(Call::pread, size, fails);
  return fails ? -1 : __real_pread(file, bytes, some, at);
}

ssize_t __real_pwrite(int file, const void* bytes, size_t size, off_t at);
ssize_t __wrap_pwrite(int file, const void* bytes, size_t size, off_t at) {
  bool fails = false;
  const size_t some = some_of(Call::pwrite, size, fails);
  return fails ? -1 : __real_pwrite(file, bytes, some, at);
}

struct dirent* __real_readdir(DIR* stream);
struct dirent* __wrap_readdir(DIR* stream) {
  return made(Call::readdir, static_cast<struct dirent*>(nullptr),
              [&] { return __real_readdir(stream); });
}

ssize_t __real_readlinkat(int folder, const char* path, char* target, size_t size);
ssize_t __wrap_readlinkat(int folder, const char* path, char* target, size_t size) {
  return made(Call::readlinkat, ssize_t{-1},
              [&] { return __real_readlinkat(folder, path, target, size); });
}

int __real_renameat(int from_folder, const char* from, int to_folder, const char* to);
int __wrap_renameat(int from_folder, const char* from, int to_folder, const char* to) {
  return made(Call::renameat, -1,
              [&] { return __real_renameat(from_folder, from, to_folder, to); });
}

int __real_unlinkat(int folder, const char* path, int flags);
int __wrap_unlinkat(int folder, const char* path, int flags) {
  return made(Call::unlinkat, -1, [&] { return __real_unlinkat(folder, path, flags); });
}

}  // extern "C"
// NOLINTEND(clang-diagnostic-reserved-identifier)
