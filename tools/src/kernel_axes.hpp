#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "kernel_choice.hpp"

/// Every way in which one kernel of the command differs from another, once: the flags of `source`,
/// `precompile` and `bench` and the names in a manifest are made from this list.
namespace jitbag::tools {

/// One value of an axis, to be put into a choice that has those of the axes before it.
using Setting = std::function<void(KernelChoice&)>;

struct Numbers {
  std::int64_t lowest = 0;
  std::int64_t highest = 0;
  bool or_none = false;  ///< "none", in JSON null
};
struct Words {
  std::vector<std::string> allowed;
};
struct FreeText {
  std::string form;         ///< what to write, for messages
  bool has_commas = false;  ///< so that it cannot be one of a list of the command line
};

struct KernelAxis {
  std::string name;  ///< in a manifest: "embedding_dim"; the flag is --embedding-dim
  std::string
      otherwise;  ///< what it is where it is not given; empty: as the axes before it have it
  std::string help;
  std::variant<Numbers, Words, FreeText> allowed;
  /// Reads a value, written as on the command line. Throws UsageError for a free text that is not
  /// of its form.
  Setting (*setting)(const std::string& text);

  [[nodiscard]] std::string flag() const;  ///< "--embedding-dim"
};

/// In the order in which they are put into a choice.
[[nodiscard]] const std::vector<KernelAxis>& kernel_axes();
/// The axis of that name, which must be one.
[[nodiscard]] const KernelAxis& kernel_axis(std::string_view name);

/// For each axis that has a say its values, each once: `texts_of` has them as text, or nothing.
/// What only bags of a layout that is not there have a use for has no say.
[[nodiscard]] std::vector<std::vector<Setting>> settings(
    const std::function<std::vector<std::string>(const KernelAxis&)>& texts_of);

/// Whether only bags of one layout have a use for the axis; that layout, or empty.
[[nodiscard]] std::string_view layout_of(const KernelAxis& axis);

}  // namespace jitbag::tools
