#include "codegen/kinds.hpp"

#include <map>
#include <string>
#include <utility>

#include "spec/arguments.hpp"

namespace jitbag::codegen {

Kinds kinds_of(const TablesSpec& spec, const std::vector<Strategy>& strategies) {
  const std::vector<ForwardSpec> specs = specs_within(spec);
  Kinds kinds;
  std::map<std::pair<std::string, std::string>, int> numbers;
  for (std::size_t t = 0; t < specs.size(); ++t) {
    const auto [place, is_new] = numbers.try_emplace({to_text(specs[t]), to_text(strategies[t])},
                                                     static_cast<int>(kinds.all.size()));
    if (is_new) kinds.all.push_back({specs[t], strategies[t]});
    kinds.of_table.push_back(place->second);
  }
  return kinds;
}

}  // namespace jitbag::codegen
