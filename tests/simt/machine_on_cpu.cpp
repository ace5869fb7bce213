#include "machine_on_cpu.hpp"

#include <cstring>
#include <map>

namespace jitbag::test {
namespace {

std::shared_ptr<CompiledKernel> compiled(const Specialisation& one) {
  static std::map<std::string, std::shared_ptr<CompiledKernel>> known;
  std::shared_ptr<CompiledKernel>& kernel = known[one.source];
  if (kernel == nullptr) kernel = std::make_shared<CompiledKernel>(one.source, one.entry);
  return kernel;
}

}  // namespace

CompiledKernels compiled(const std::vector<Specialisation>& specialisations) {
  CompiledKernels kernels;
  for (const Specialisation& one : specialisations) kernels.push_back(compiled(one));
  return kernels;
}

void MachineOnCpu::fill(void* address, int byte, std::int64_t bytes) const {
  std::memset(address, byte, static_cast<std::size_t>(bytes));
}

}  // namespace jitbag::test
