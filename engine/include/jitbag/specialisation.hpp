#pragma once

#include <string>
#include <vector>

#include "jitbag/backward.hpp"
#include "jitbag/forward_spec.hpp"
#include "jitbag/strategy.hpp"
#include "jitbag/tables.hpp"
#include "jitbag/target.hpp"
#include "jitbag/transpose.hpp"

namespace jitbag {

/// A constant that a template is given: `constexpr <type> <name> = <value>;` at the top of its
/// source.
struct Constant {
  std::string type;   ///< "int", "long long", "float", "bool"
  std::string name;   ///< a C++ identifier
  std::string value;  ///< a C++ expression
};

/// A kernel source of the caller's own. It is compiled, cached and loaded as jitbag's are.
struct KernelTemplate {
  std::string name;   ///< for messages and `jitbag source`, as a file name: "scale.cu"
  std::string text;   ///< CUDA C++ that includes nothing
  std::string entry;  ///< the `extern "C" __global__` function to launch
  std::vector<Constant> constants = {};
  /// More NVRTC options. Those that read or write files, or name an architecture, are refused:
  /// what they bring in would not be part of the key.
  std::vector<std::string> options = {};
};

/// One source text, ready to compile: all that decides the machine code but the compiler itself.
struct Specialisation {
  std::string name;
  std::string source;
  std::string entry;
  Target target;
  /// Besides the architecture. --minimal is left out by the compiler where NVRTC does not know it.
  std::vector<std::string> options;

  bool operator==(const Specialisation&) const = default;
};

/// Codegen: pure functions, no CUDA, no files. Throw Error(invalid_argument).
[[nodiscard]] Specialisation specialise(const ForwardSpec& spec, const Strategy& strategy,
                                        const Target& target);
/// All kernels that a gradient takes; the first is that of the weights' gradient, where it is asked
/// for.
[[nodiscard]] std::vector<Specialisation> specialise(const BackwardSpec& spec,
                                                     const BackwardStrategy& strategy,
                                                     const Target& target);
/// All kernels that a transposition takes, by the built-in rule.
[[nodiscard]] std::vector<Specialisation> specialise(const TransposeSpec& spec,
                                                     const Target& target);
/// Strategies one for each table, all with the same block_threads and launch mode.
[[nodiscard]] Specialisation specialise(const TablesSpec& spec,
                                        const std::vector<Strategy>& strategies,
                                        const Target& target);
[[nodiscard]] Specialisation quantiser_specialisation(const ForwardSpec& spec,
                                                      const Target& target);
[[nodiscard]] Specialisation specialise(const KernelTemplate& kernel_template,
                                        const Target& target);

}  // namespace jitbag
