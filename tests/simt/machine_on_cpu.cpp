#include "machine_on_cpu.hpp"

#include <cstring>

namespace jitbag::test {

CompiledKernels compiled(const std::vector<Specialisation>& specialisations) {
  CompiledKernels kernels;
  for (const Specialisation& one : specialisations) kernels.push_back(compiled(one));
  return kernels;
}

void MachineOnCpu::fill(void* address, int byte, std::int64_t bytes) const {
  std::memset(address, byte, static_cast<std::size_t>(bytes));
}

}  // namespace jitbag::test
