#include "compiled_kernel.hpp"

#include <dlfcn.h>
#include <spdlog/fmt/fmt.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

#include "support/temporary_folder.hpp"

namespace jitbag::test {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream stream(path, std::ios::binary);
  stream << text;
  stream.close();
  if (!stream) throw std::runtime_error(fmt::format("{} cannot be written.", path.string()));
}

std::string read(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Without what GCC 12 derives about functions' memory: by it the sums of some kernels stay the
/// zeros that they begin with (clang is right, and so is GCC without it or under the sanitizers).
/// Hidden symbols, or the inline functions and static variables of one kernel would be taken for
/// those of another. No libraries: this program has what the sanitizers call, and to look for it
/// in them takes longer than to compile a small kernel.
std::string compile_command(const std::filesystem::path& folder) {
  return fmt::format(
      "'{}' -x c++ -std=c++17 -O1 -g1 -fPIC -shared -nostdlib -fvisibility=hidden -fno-gnu-unique "
      "-fno-tree-pta -fno-ipa-modref -fno-ipa-pure-const "
      "-fno-strict-aliasing -w {} "
      "-include '{}' '{}' -o '{}' > '{}' 2>&1",
      JITBAG_TEST_COMPILER, JITBAG_TEST_KERNEL_FLAGS, JITBAG_TEST_SIMT_HEADER,
      (folder / "kernel.cu").string(), (folder / "kernel.so").string(),
      (folder / "kernel.log").string());
}

}  // namespace

CompiledKernel::CompiledKernel(const std::string& source, const std::string& entry) {
  const TemporaryFolder folder;
  write(folder.path() / "kernel.cu", source);
  if (std::system(compile_command(folder.path()).c_str()) != 0) {
    throw std::runtime_error(fmt::format("The C++ compiler refused the kernel:\n{}",
                                         read(folder.path() / "kernel.log")));
  }
  library_ = ::dlopen((folder.path() / "kernel.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library_) throw std::runtime_error(::dlerror());
  entry_ = symbol(entry.c_str());
  thread_index_ = static_cast<Index*>(symbol("threadIdx"));
  block_index_ = static_cast<Index*>(symbol("blockIdx"));
  block_size_ = static_cast<Index*>(symbol("blockDim"));
  grid_size_ = static_cast<Index*>(symbol("gridDim"));
  poison_shared_ = reinterpret_cast<void (*)()>(symbol("simt_poison_shared"));
}

CompiledKernel::~CompiledKernel() {
  ::dlclose(library_);
}

std::shared_ptr<const CompiledKernel> compiled(const Specialisation& one) {
  static std::map<std::string, std::shared_ptr<const CompiledKernel>> known;
  std::shared_ptr<const CompiledKernel>& kernel = known[one.source];
  if (kernel == nullptr) kernel = std::make_shared<CompiledKernel>(one.source, one.entry);
  return kernel;
}

void* CompiledKernel::symbol(const char* name) const {
  void* found = ::dlsym(library_, name);
  if (!found) throw std::runtime_error(fmt::format("The compiled kernel has no {}.", name));
  return found;
}

std::string CompiledKernel::run(BlockRunner& runner, const Grid& grid,
                                const std::function<void()>& thread) const {
  const auto set_thread = [&](int number) {
    *thread_index_ = {static_cast<unsigned>(number), 0, 0};
  };
  *block_size_ = {static_cast<unsigned>(grid.block_threads), 1, 1};
  *grid_size_ = {static_cast<unsigned>(grid.blocks), 1, 1};
  for (std::int64_t block = 0; block < grid.blocks; ++block) {
    *block_index_ = {static_cast<unsigned>(block), 0, 0};
    poison_shared_();
    if (!grid.threads_meet) {
      for (int number = 0; number < grid.block_threads; ++number) {
        set_thread(number);
        thread();
      }
    } else if (std::string problem = runner.run(grid.block_threads, set_thread, thread);
               !problem.empty()) {
      return fmt::format("Block {}: {}", block, problem);
    }
  }
  return {};
}

}  // namespace jitbag::test
