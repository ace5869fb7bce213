#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "cli11.hpp"
#include "kernel_axes.hpp"

namespace jitbag::tools {

inline constexpr const char* embedding_bag_mean = "embedding_bag_mean";
inline constexpr const char* embedding_bag = "embedding_bag";

/// What the command line says about kernels.
struct KernelFlags {
  /// Flags for all axes, or for those that are named.
  KernelFlags();
  explicit KernelFlags(const std::vector<std::string_view>& names);

  std::string operator_name = embedding_bag_mean;
  std::map<std::string, std::string> values;  ///< by the axis' name; empty: not given
};

/// --operator, of which the kernels' flags say the rest.
void add_operator_flag(CLI::App& arguments, KernelFlags& flags);

enum class Lists { allowed, refused };
void add_kernel_flags(CLI::App& arguments, KernelFlags& flags, Lists lists);

/// The values that the flags give one axis, as text.
[[nodiscard]] std::vector<std::string> values_of(const KernelFlags& flags, const KernelAxis& axis);

/// What flags without lists say. Throws UsageError.
[[nodiscard]] KernelChoice kernel_choice(const KernelFlags& flags);

/// A padding id on the command line: a number or "none".
[[nodiscard]] std::optional<std::int64_t> parse_padding_id(const std::string& text);

/// The check of one value of an axis.
[[nodiscard]] CLI::Validator value_of(const KernelAxis& axis);

}  // namespace jitbag::tools
