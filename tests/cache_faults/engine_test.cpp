#include "jitbag/engine.hpp"

#include <string>
#include <vector>

#include "catch.hpp"
#include "faults.hpp"
#include "jitbag/compiler.hpp"
#include "support/temporary_folder.hpp"

namespace jitbag::test {
namespace {

Specialisation kernel() {
  return specialise(
      KernelTemplate{.name = "fill.cu",
                     .text = "extern \"C\" __global__ void fill(int* x) { *x = 7; }\n",
                     .entry = "fill"},
      {9, 0});
}

/// The engine compiles the kernel into the folder with this fault at that call. Whether there was
/// such a call.
bool delivers(const std::filesystem::path& folder, const Fault& fault, int number) {
  Artifact artifact;
  bool met = false;
  {
    const Armed armed(fault, number);
    Engine engine({.cache = cache::CacheOptions{.directory = folder}});
    artifact = engine.artifact(kernel());
    met = armed.met();
  }
  CHECK_FALSE(artifact.cubin.empty());
  CHECK(cache::DiskCache(folder, {}).verify().damaged.empty());
  return met;
}

TEST_CASE("whatever call of the cache fails, the engine delivers the kernel") {
  if (!compiler::find()) {
    WARN("skipped: NVRTC was not found; `jitbag doctor` says where it is looked for");
    return;
  }
  const std::vector<Call> writing{Call::pwrite, Call::fsync,    Call::mkdirat,
                                  Call::mkdir,  Call::renameat, Call::unlinkat};
  for (const Fault& fault :
       {Fault{"EIO", EIO}, Fault{"EIO for ever", EIO, {}, true},
        Fault{"no space", ENOSPC, writing, true}, Fault{"read-only", EROFS, writing, true},
        Fault{"no locks", ENOLCK, {Call::fcntl}, true}}) {
    for (int number = 0;; ++number) {
      INFO(fault.name << " at call " << number);
      const TemporaryFolder root;
      if (!delivers(root.path() / "cache", fault, number)) break;
    }
  }
}

}  // namespace
}  // namespace jitbag::test
