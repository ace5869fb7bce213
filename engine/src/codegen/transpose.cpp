#include <spdlog/fmt/fmt.h>

#include "codegen/own_template.hpp"
#include "codegen/sorted_kernels.hpp"
#include "spec/transpose_spec.hpp"

namespace jitbag {
namespace {

/// Weights are moved, not read.
std::string_view bits_of_weight(const TransposeSpec& spec) {
  switch (spec.weight_type ? size_of(*spec.weight_type) : 4) {
    case 2:
      return "unsigned short";
    case 8:
      return "unsigned long long";
    default:
      return "unsigned int";
  }
}

std::string constants(const TransposeSpec& spec) {
  const auto* fixed = std::get_if<FixedBags>(&spec.bags);
  return fmt::format(
      R"({silence}using Index = {index};
using WeightBits = {weight};
constexpr long long bag_size = {bag_size};  // -1: CSR
constexpr bool has_weights = {has_weights};
constexpr int block_threads = {block_threads};
)",
      fmt::arg("silence", silence), fmt::arg("index", codegen::cuda_type(spec.index_type)),
      fmt::arg("weight", bits_of_weight(spec)),
      fmt::arg("bag_size", codegen::literal(fixed ? fixed->size : -1)),
      fmt::arg("has_weights", spec.weight_type.has_value()),
      fmt::arg("block_threads", transpose_block_threads));
}

}  // namespace

std::vector<Specialisation> specialise(const TransposeSpec& raw, const Target& target) {
  const TransposeSpec spec = validated(raw);
  const BackwardSpec sorting = sorting_of(spec);
  const BackwardStrategy strategy = default_strategy(sorting, BackwardMethod::sort, target);
  const std::vector<Specialisation> of_sort = specialise(sorting, strategy, target);
  const auto sorted = [&](SortedKernel kernel) {
    return of_sort[static_cast<std::size_t>(kernel)];
  };
  const std::string name = "transpose_uses.cu";
  return {sorted(SortedKernel::uses), sorted(SortedKernel::small_pass),
          sorted(SortedKernel::large_pass), sorted(SortedKernel::number_rows),
          codegen::own_template(
              name, "transpose_uses",
              fmt::format("// {}\n// {}\n{}", to_text(spec), to_text(target),
                          codegen::body_of(name, constants(spec), strategy.shape.launch_mode)),
              target)};
}

}  // namespace jitbag
