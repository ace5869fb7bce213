#include "jitbag/cache/explain.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace jitbag::cache {
namespace {

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t length = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, length));
    text.remove_prefix(std::min(length + 1, text.size()));
  }
  return lines;
}

/// The lines of `text` that `other` does not have, as often as they are missing there, in order.
std::vector<std::string_view> lines_missing_in(std::string_view other, std::string_view text) {
  std::map<std::string_view, int> left;
  for (const std::string_view line : lines_of(other)) ++left[line];
  std::vector<std::string_view> missing;
  for (const std::string_view line : lines_of(text)) {
    if (--left[line] < 0) missing.push_back(line);
  }
  return missing;
}

void add_value_differences(std::vector<Difference>& all, const std::string& name,
                           std::string_view wanted, std::string_view found) {
  if (wanted == found) return;
  const auto here = lines_missing_in(found, wanted);
  const auto there = lines_missing_in(wanted, found);
  if (here.empty() && there.empty()) {
    all.push_back({name, "(the same lines in another order)", {}});
    return;
  }
  for (std::size_t i = 0; i < std::max(here.size(), there.size()); ++i)
    all.push_back({name, std::string(i < here.size() ? here[i] : std::string_view()),
                   std::string(i < there.size() ? there[i] : std::string_view())});
}

/// The values of all fields of that name, one on each line: a name may stand several times.
std::string values_of(std::span<const Field> fields, std::string_view name) {
  std::string values;
  for (const Field& field : fields) {
    if (field.name != name) continue;
    if (!values.empty()) values += '\n';
    values += field.value;
  }
  return values;
}

std::vector<std::string> names_of(std::span<const Field> wanted, std::span<const Field> found) {
  std::vector<std::string> names;
  for (const auto fields : {wanted, found}) {
    for (const Field& field : fields) {
      if (std::ranges::find(names, field.name) == names.end()) names.push_back(field.name);
    }
  }
  return names;
}

}  // namespace

std::vector<Difference> differences(std::span<const Field> wanted, std::span<const Field> found) {
  std::vector<Difference> all;
  for (const std::string& name : names_of(wanted, found))
    add_value_differences(all, name, values_of(wanted, name), values_of(found, name));
  return all;
}

void NearestRecord::consider(std::span<const Field> fields, const std::string& where) {
  auto found = differences(wanted_, fields);
  if (answer_ && answer_->differences.size() <= found.size()) return;
  answer_ = Answer{{fields.begin(), fields.end()}, where, std::move(found)};
}

}  // namespace jitbag::cache
