#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "folder.hpp"
#include "jitbag/cache/key.hpp"

namespace jitbag::cache {

inline constexpr const char* lock_name = "lock";

/// What each byte of the file `lock` stands for. Keys have the 62 bits that any file system has as
/// an offset; what follows them is no key's.
[[nodiscard]] std::uint64_t claim_byte(const Digest& key);
inline constexpr std::uint64_t total_byte = std::uint64_t{1} << 62;
inline constexpr std::uint64_t eviction_byte = total_byte + 1;

enum class LockOutcome {
  taken,
  in_vain,      ///< someone else still has it
  unsupported,  ///< the file system or the kernel knows no such locks
  no_file,      ///< the file cannot be opened
};

/// One byte of a folder's file `lock`, held as long as this lives. The lock belongs to the open
/// file and not to the process, so it also keeps threads apart; the kernel releases it when the
/// process ends, however it ends.
class ByteLock {
 public:
  /// Waits for the byte, at most `patience`.
  ByteLock(const Folder& root, std::uint64_t byte, std::chrono::milliseconds patience);
  ByteLock(const ByteLock&) = delete;
  ByteLock& operator=(const ByteLock&) = delete;
  ~ByteLock() { close(descriptor_); }

  [[nodiscard]] LockOutcome outcome() const { return outcome_; }
  /// Why no lock can be had here.
  [[nodiscard]] const std::string& reason() const { return reason_; }

  /// Hands the lock over; whoever has it calls close().
  [[nodiscard]] int release() { return std::exchange(descriptor_, -1); }
  static void close(int descriptor);

 private:
  int descriptor_ = -1;
  LockOutcome outcome_ = LockOutcome::no_file;
  std::string reason_;
};

}  // namespace jitbag::cache
