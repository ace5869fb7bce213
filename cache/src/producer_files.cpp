#include "producer_files.hpp"

#include <algorithm>
#include <chrono>
#include <tuple>

#include "bytes.hpp"
#include "producer_rules.hpp"
#include "record_file.hpp"
#include "record_list.hpp"

namespace jitbag::cache {
namespace {}  // namespace

std::vector<std::string> producer_files(const Folder& producers) {
  using Time = std::chrono::system_clock::time_point;
  std::vector<std::tuple<Time, std::string>> files;
  for (std::string& name : producers.names()) {
    if (!is_valid_producer_id(name)) continue;
    if (const auto info = producers.information(name))
      files.emplace_back(last_used(*info), std::move(name));
  }
  std::ranges::sort(files, [](const auto& a, const auto& b) {
    return std::get<Time>(a) != std::get<Time>(b)
               ? std::get<Time>(a) > std::get<Time>(b)
               : std::get<std::string>(a) < std::get<std::string>(b);
  });
  std::vector<std::string> names;
  names.reserve(files.size());
  for (auto& [time, name] : files) names.push_back(std::move(name));
  return names;
}

std::vector<Producer> read_producers(const Folder& root) {
  const auto folder = root.open_inside(producers_name);
  if (!folder) return {};
  std::vector<Producer> producers;
  for (std::string& name : producer_files(*folder)) {
    const FileLook look = look_at(*folder, name, longest_producer_description, Use::unnoted);
    if (look.bytes) producers.push_back({std::move(name), text_of(*look.bytes)});
  }
  return producers;
}

}  // namespace jitbag::cache
